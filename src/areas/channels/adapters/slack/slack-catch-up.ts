import { setTimeout as sleep } from 'node:timers/promises';
import { WebAPIRateLimitedError, type WebClient } from '@slack/web-api';
import type { AdapterData } from '../../channel-adapter.port.js';
import { isSkippable } from './slack-client.js';
import {
  isAddressed,
  isGroup,
  messageOf,
  type SlackBot,
  type SlackMessage,
  type WrittenMessage,
} from './slack-messages.js';

/** Messages from shortly before the very first start are still answered; clocks differ by less. */
const FIRST_LOOKBACK_MS = 60_000;

/** Where to resume: for which bot, after which message, and in which kinds of channels the app gets every message. */
export interface SlackCursor {
  readonly team: string;
  readonly bot: string;
  readonly ts: string;
  readonly heard: readonly string[];
}

/** Undefined for another bot's cursor, and before the first start. */
export function cursorOf(stored: AdapterData | null, bot: SlackBot): SlackCursor | undefined {
  const { team, bot: user, ts, heard } = stored ?? {};
  if (team !== bot.team || user !== bot.user || typeof ts !== 'string') return undefined;
  return { team: bot.team, bot: bot.user, ts, heard: Array.isArray(heard) ? heard.map(String) : [] };
}

export function firstCursor({ team, user }: SlackBot): SlackCursor {
  return { team, bot: user, ts: ((Date.now() - FIRST_LOOKBACK_MS) / 1000).toFixed(6), heard: [] };
}

export function cursorAfter(cursor: SlackCursor, messages: readonly SlackMessage[]): SlackCursor {
  const ts = messages.reduce((last, one) => (Number(one.ts) > Number(last) ? one.ts : last), cursor.ts);
  const kinds = messages.flatMap((one) =>
    one.type === 'message' && isGroup(one) ? (one.channel_type ?? []) : [],
  );
  return { ...cursor, ts, heard: [...new Set([...cursor.heard, ...kinds])].slice(0, 8) };
}

/** No one waits for an answer to older messages. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Each costs a call, and Slack allows fifty a minute. */
const MAX_CONVERSATIONS = 100;
const MAX_THREADS = 50;

/** A message in a history, as far as threads are concerned. */
interface ThreadStart {
  readonly ts?: string;
  readonly reply_count?: number;
  readonly latest_reply?: string;
}

/**
 * Finds what was written while no replica was connected. Slack repeats an event three times within minutes and then drops
 * it, so the histories are read. Keeps what would have been received: private messages, mentions, and everything else in
 * conversations where the app gets every message and the bot has taken part.
 */
export class SlackCatchUp {
  /** How many threads may still be read that the bot is not known to take part in. */
  private threadsLeft = MAX_THREADS;

  constructor(
    private readonly history: SlackHistory,
    private readonly bot: SlackBot,
    private readonly cursor: SlackCursor,
    /** The latest active conversations, newest first. */
    private readonly known: readonly string[],
  ) {}

  /** The missed messages, oldest first. Throws what Slack's calls throw. */
  async missed(): Promise<WrittenMessage[]> {
    const oldest = this.oldest();
    const sources = this.ranked(await this.history.listConversations());
    const found = new Map<string, WrittenMessage>();
    for (const source of sources) {
      const values = await this.history.messages(source.id, oldest);
      this.gather(found, source, values, oldest);
      for (const thread of this.threadsOf(source, values, oldest)) {
        this.gather(found, source, await this.history.replies(source.id, thread, oldest), oldest);
      }
    }
    return [...found.values()].sort((one, other) => Number(one.ts) - Number(other.ts));
  }

  private oldest(): string {
    const longAgo = (Date.now() - MAX_AGE_MS) / 1000;
    return Number(this.cursor.ts) > longAgo ? this.cursor.ts : longAgo.toFixed(6);
  }

  /** The latest active ones first, at most `MAX_CONVERSATIONS`. */
  private ranked(sources: readonly SlackConversation[]): SlackConversation[] {
    const ranks = new Map([...this.known].reverse().map((name, rank) => [channelOf(name), rank]));
    const rankOf = ({ id }: SlackConversation): number => ranks.get(id) ?? -1;
    return [...sources].sort((one, other) => rankOf(other) - rankOf(one)).slice(0, MAX_CONVERSATIONS);
  }

  /** Threads in which the bot takes part, and those with messages after `oldest`. */
  private threadsOf({ id }: SlackConversation, values: readonly object[], oldest: string): readonly string[] {
    const known = this.known
      .slice(0, MAX_THREADS)
      .filter((name) => channelOf(name) === id)
      .flatMap((name) => name.split('/')[1] ?? []);
    const active = values.flatMap((value) => {
      const { ts, reply_count: replies = 0, latest_reply: latest = ts } = value as ThreadStart;
      return ts !== undefined && replies > 0 && Number(latest) > Number(oldest) ? ts : [];
    });
    const asked = active.filter((ts) => !known.includes(ts)).slice(0, this.threadsLeft);
    this.threadsLeft -= asked.length;
    return [...known, ...asked];
  }

  private gather(
    found: Map<string, WrittenMessage>,
    source: SlackConversation,
    values: readonly object[],
    oldest: string,
  ): void {
    for (const value of values) {
      const message = messageOf({ ...value, channel: source.id, channel_type: source.kind }, this.bot);
      if (message === undefined || Number(message.ts) <= Number(oldest)) continue;
      if (this.concernsBot(message, source)) found.set(`${source.id}:${message.ts}`, message);
    }
  }

  private concernsBot(message: WrittenMessage, { id, kind }: SlackConversation): boolean {
    if (!isGroup(message) || isAddressed(message, this.bot)) return true;
    return this.cursor.heard.includes(kind) && this.known.some((name) => channelOf(name) === id);
  }
}

function channelOf(conversation: string): string {
  return conversation.split('/')[0] ?? '';
}

const EVERY_TYPE = 'public_channel,private_channel,mpim,im';
const PAGE = 200;
const MAX_PAGES = 5;
const MAX_WAITS = 10;
const MAX_WAIT_SECS = 60;

export interface SlackConversation {
  readonly id: string;
  /** What events call it (`channel_type`). */
  readonly kind: 'im' | 'mpim' | 'group' | 'channel';
}

interface Page {
  readonly response_metadata?: { readonly next_cursor?: string };
}

/** Reads histories, up to a thousand entries each. Waits when Slack asks for it; throws what Slack's client throws. */
export class SlackHistory {
  constructor(
    private readonly api: WebClient,
    private readonly signal: AbortSignal,
  ) {}

  /** The conversations that the bot is a member of, at most a thousand. */
  async listConversations(): Promise<SlackConversation[]> {
    const pages = await this.pages((page) =>
      this.api.users.conversations({ types: EVERY_TYPE, exclude_archived: true, ...page }),
    );
    return pages
      .flatMap(({ channels = [] }) => channels)
      .flatMap(({ id, is_im: im, is_mpim: mpim, is_private: secret, is_group: group }) => {
        if (id === undefined) return [];
        if (im === true) return { id, kind: 'im' };
        if (mpim === true) return { id, kind: 'mpim' };
        return { id, kind: secret === true || group === true ? 'group' : 'channel' };
      });
  }

  /** Messages of a channel, outside threads, after `oldest`; at most the latest thousand. */
  async messages(channel: string, oldest: string): Promise<object[]> {
    return this.emptyIfUnreadable(async () => {
      const pages = await this.pages((page) => this.api.conversations.history({ channel, oldest, ...page }));
      return pages.flatMap(({ messages = [] }) => messages);
    });
  }

  /** Messages of a thread after `oldest`. */
  async replies(channel: string, ts: string, oldest: string): Promise<object[]> {
    return this.emptyIfUnreadable(async () => {
      const pages = await this.pages((page) =>
        this.api.conversations.replies({ channel, ts, oldest, ...page }),
      );
      return pages.flatMap(({ messages = [] }) => messages);
    });
  }

  private async pages<One extends Page>(
    ask: (page: { limit: number; cursor?: string }) => Promise<One>,
  ): Promise<One[]> {
    const pages: One[] = [];
    let cursor = '';
    do {
      const at = { limit: PAGE, ...(cursor === '' ? {} : { cursor }) };
      const page = await this.withRetries(() => ask(at));
      pages.push(page);
      cursor = page.response_metadata?.next_cursor ?? '';
    } while (cursor !== '' && pages.length < MAX_PAGES);
    return pages;
  }

  private async withRetries<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (let waits = 0; ; waits++) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof WebAPIRateLimitedError) || waits >= MAX_WAITS) throw error;
        if (error.retryAfter > MAX_WAIT_SECS) throw error;
        await sleep(error.retryAfter * 1000, undefined, { signal: this.signal });
      }
    }
  }

  /** A conversation that the bot may not read, or that is gone, must not stop the catching up. */
  private async emptyIfUnreadable(read: () => Promise<object[]>): Promise<object[]> {
    try {
      return await read();
    } catch (error) {
      if (isSkippable(error)) return [];
      throw error;
    }
  }
}
