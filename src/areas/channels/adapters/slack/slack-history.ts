import { setTimeout as sleep } from 'node:timers/promises';
import { WebAPIRateLimitedError, type WebClient } from '@slack/web-api';
import { isSkippable } from './slack-client.js';

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
