import type { SlackCursor } from './slack-cursor.js';
import type { SlackHistory, SlackPlace } from './slack-history.js';
import { isAddressed, isGroup, messageOf, type SlackBot, type WrittenMessage } from './slack-messages.js';

/** Older questions nobody waits for any more. */
const LONGEST_AGO_MS = 24 * 3_600_000;
/** Each of them is a call, of which Slack takes fifty a minute. */
const MOST_PLACES = 100;
const MOST_THREADS = 50;

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
  private threadsLeft = MOST_THREADS;

  constructor(
    private readonly history: SlackHistory,
    private readonly bot: SlackBot,
    private readonly cursor: SlackCursor,
    /** Conversations in which somebody wrote last, newest first. */
    private readonly known: readonly string[],
  ) {}

  async missed(): Promise<WrittenMessage[]> {
    const oldest = this.oldest();
    const places = this.worthAsking(await this.history.places());
    const found = new Map<string, WrittenMessage>();
    for (const place of places) {
      const values = await this.history.messages(place.id, oldest);
      this.gather(found, place, values, oldest);
      for (const thread of this.threadsOf(place, values, oldest)) {
        this.gather(found, place, await this.history.replies(place.id, thread, oldest), oldest);
      }
    }
    return [...found.values()].sort((one, other) => Number(one.ts) - Number(other.ts));
  }

  private oldest(): string {
    const longAgo = (Date.now() - LONGEST_AGO_MS) / 1000;
    return Number(this.cursor.ts) > longAgo ? this.cursor.ts : longAgo.toFixed(6);
  }

  /** Where somebody wrote last comes first. */
  private worthAsking(places: readonly SlackPlace[]): SlackPlace[] {
    const ranks = new Map([...this.known].reverse().map((name, rank) => [channelOf(name), rank]));
    const rankOf = ({ id }: SlackPlace): number => ranks.get(id) ?? -1;
    return [...places].sort((one, other) => rankOf(other) - rankOf(one)).slice(0, MOST_PLACES);
  }

  /** Threads in which the bot takes part, and those that began, or went on, meanwhile. */
  private threadsOf({ id }: SlackPlace, values: readonly object[], oldest: string): readonly string[] {
    const known = this.known
      .slice(0, MOST_THREADS)
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
    place: SlackPlace,
    values: readonly object[],
    oldest: string,
  ): void {
    for (const value of values) {
      const message = messageOf({ ...value, channel: place.id, channel_type: place.kind }, this.bot);
      if (message === undefined || Number(message.ts) <= Number(oldest)) continue;
      if (this.wasForUs(message, place)) found.set(`${place.id}:${message.ts}`, message);
    }
  }

  private wasForUs(message: WrittenMessage, { id, kind }: SlackPlace): boolean {
    if (!isGroup(message) || isAddressed(message, this.bot)) return true;
    return this.cursor.heard.includes(kind) && this.known.some((name) => channelOf(name) === id);
  }
}

function channelOf(conversation: string): string {
  return conversation.split('/')[0] ?? '';
}
