import { type AdapterData } from '../../channel-adapter.port.js';
import { type SlackConversation, type SlackHistory } from './slack-history.js';
import {
  isAddressed,
  isGroup,
  messageOf,
  type SlackBot,
  type SlackMessage,
  type WrittenMessage,
} from './slack-messages.js';

/** Whatever was said shortly before the very first start is still answered; clocks differ by less. */
const FIRST_LOOK_BACK_MS = 60_000;

/** Where to go on: as which bot, after which message, and in what kinds of channels the app is told of everything. */
export interface SlackCursor {
  readonly team: string;
  readonly bot: string;
  readonly ts: string;
  readonly heard: readonly string[];
}

/** Undefined for another bot's, and before the first start. */
export function cursorOf(stored: AdapterData | null, bot: SlackBot): SlackCursor | undefined {
  const { team, bot: user, ts, heard } = stored ?? {};
  if (team !== bot.team || user !== bot.user || typeof ts !== 'string') return undefined;
  return { team: bot.team, bot: bot.user, ts, heard: Array.isArray(heard) ? heard.map(String) : [] };
}

export function firstCursor({ team, user }: SlackBot): SlackCursor {
  return { team, bot: user, ts: ((Date.now() - FIRST_LOOK_BACK_MS) / 1000).toFixed(6), heard: [] };
}

export function cursorAfter(cursor: SlackCursor, messages: readonly SlackMessage[]): SlackCursor {
  const ts = messages.reduce((last, one) => (Number(one.ts) > Number(last) ? one.ts : last), cursor.ts);
  const kinds = messages.flatMap((one) =>
    one.type === 'message' && isGroup(one) ? (one.channel_type ?? []) : [],
  );
  return { ...cursor, ts, heard: [...new Set([...cursor.heard, ...kinds])].slice(0, 8) };
}

/** Older questions nobody waits for any more. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Each of them is a call, of which Slack takes fifty a minute. */
const MAX_CONVERSATIONS = 100;
const MAX_THREADS = 50;

/** What a history says of a message that has replies. */
interface ThreadStart {
  readonly ts?: string;
  readonly reply_count?: number;
  readonly latest_reply?: string;
}

/**
 * What was said while nobody was connected, in its order. Slack repeats an event three times within some minutes, and
 * then no more; so it is asked. Only what would have been heard: private messages, mentions, and the rest where the app
 * is told of it and the bot has taken part.
 */
export class SlackCatchUp {
  /** Of those that the bot is not known to take part in. */
  private threadsLeft = MAX_THREADS;

  constructor(
    private readonly history: SlackHistory,
    private readonly bot: SlackBot,
    private readonly cursor: SlackCursor,
    /** Conversations in which somebody wrote last, newest first. */
    private readonly known: readonly string[],
  ) {}

  async missed(): Promise<WrittenMessage[]> {
    const oldest = this.oldest();
    const sources = this.worthAsking(await this.history.listConversations());
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

  /** Where somebody wrote last comes first. */
  private worthAsking(sources: readonly SlackConversation[]): SlackConversation[] {
    const ranks = new Map([...this.known].reverse().map((name, rank) => [channelOf(name), rank]));
    const rankOf = ({ id }: SlackConversation): number => ranks.get(id) ?? -1;
    return [...sources].sort((one, other) => rankOf(other) - rankOf(one)).slice(0, MAX_CONVERSATIONS);
  }

  /** Threads in which the bot takes part, and those that began, or went on, meanwhile. */
  private threadsOf({ id }: SlackConversation, values: readonly object[], oldest: string): readonly string[] {
    const known = this.known
      .slice(0, MAX_THREADS)
      .filter((name) => channelOf(name) === id)
      .flatMap((name) => name.split('/')[1] ?? []);
    const begun = values.flatMap((value) => {
      const { ts, reply_count: replies = 0, latest_reply: latest = ts } = value as ThreadStart;
      return ts !== undefined && replies > 0 && Number(latest) > Number(oldest) ? ts : [];
    });
    const asked = begun.filter((ts) => !known.includes(ts)).slice(0, this.threadsLeft);
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
      if (this.wasForUs(message, source)) found.set(`${source.id}:${message.ts}`, message);
    }
  }

  private wasForUs(message: WrittenMessage, { id, kind }: SlackConversation): boolean {
    if (!isGroup(message) || isAddressed(message, this.bot)) return true;
    return this.cursor.heard.includes(kind) && this.known.some((name) => channelOf(name) === id);
  }
}

function channelOf(conversation: string): string {
  return conversation.split('/')[0] ?? '';
}
