import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { type Statement } from '../../../platform/database/sql.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { LeaseLost } from '../channel-failures.js';

/** A claim that is not renewed for this long can be taken by any replica. */
export const CONVERSATION_LEASE_SECS = 15;

const LEASE_END = `now() + interval '${CONVERSATION_LEASE_SECS} seconds'`;
/** `$1` replica, `$2` channel, `$3` conversation, `$4` fence. */
export const HELD = 'channel = $2 AND conversation = $3 AND owner = $1 AND fence = $4';

/** Claims conversations with open messages, of those channels `$2` that are connected; at most `$3`. */
const CLAIM: Statement = {
  name: 'channel_conversations.claim',
  text: `
    UPDATE channel_conversations AS one SET owner = $1, lease_until = ${LEASE_END}, fence = one.fence + 1
    FROM (
      SELECT known.channel, known.conversation
      FROM channel_conversations AS known
      WHERE (known.channel, known.conversation) IN (
          SELECT channel, conversation FROM channel_messages
          WHERE done_at IS NULL AND channel IN (
            SELECT name FROM channel_states WHERE name = ANY ($2) AND status = 'connected'))
        AND (known.owner IS NULL OR known.lease_until < now())
        AND (known.retry_at IS NULL OR known.retry_at <= now())
      LIMIT $3 FOR UPDATE SKIP LOCKED
    ) AS free
    WHERE one.channel = free.channel AND one.conversation = free.conversation
    RETURNING one.channel, one.conversation, one.session_id, one.fence::float8 AS fence, one.failures`,
};

const RENEW: Statement = {
  name: 'channel_conversations.renew',
  text: `
    UPDATE channel_conversations AS one SET lease_until = ${LEASE_END}
    FROM unnest($2::text[], $3::text[], $4::float8[]) AS held (channel, conversation, fence)
    WHERE one.channel = held.channel AND one.conversation = held.conversation AND one.owner = $1
      AND one.fence = held.fence
    RETURNING one.channel, one.conversation`,
};

/** `$5` milliseconds until it can be claimed again, null for at once; `$6` failures in a row. */
const RELEASE: Statement = {
  name: 'channel_conversations.release',
  text: `
    UPDATE channel_conversations SET owner = NULL, lease_until = NULL, failures = $6,
      retry_at = now() + make_interval(secs => $5::float8 / 1000)
    WHERE ${HELD}`,
};

const SET_SESSION: Statement = {
  name: 'channel_conversations.set_session',
  text: `UPDATE channel_conversations SET session_id = $5 WHERE ${HELD} RETURNING session_id`,
};

/** The latest active conversations of channel `$1`; at most `$2`. */
const RECENT: Statement = {
  name: 'channel_conversations.recent',
  text: `
    SELECT conversation FROM channel_conversations WHERE channel = $1
    ORDER BY written_at DESC, conversation LIMIT $2`,
};

/** The right to answer in a conversation. Writes with an old fence change nothing. */
export interface ConversationClaim {
  readonly channel: string;
  readonly conversation: string;
  readonly fence: number;
  /** Its latest session, which may have ended. */
  readonly sessionId: string | null;
  /** Failed attempts in a row. */
  readonly failures: number;
}

interface ClaimRow {
  channel: string;
  conversation: string;
  session_id: string | null;
  fence: number;
  failures: number;
}

/** Which replica answers in which conversation. */
@Injectable()
export class ConversationStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  async claim(channels: readonly string[], most: number): Promise<ConversationClaim[]> {
    const rows = await this.database.query<ClaimRow>(CLAIM, [this.replica.value, channels, most]);
    return rows.map(({ session_id: sessionId, ...row }) => ({ ...row, sessionId }));
  }

  /** @returns the keys of those that this replica still holds */
  async renew(claims: readonly ConversationClaim[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ channel: string; conversation: string }>(RENEW, [
      this.replica.value,
      claims.map(({ channel }) => channel),
      claims.map(({ conversation }) => conversation),
      claims.map(({ fence }) => fence),
    ]);
    return new Set(rows.map(conversationKey));
  }

  /** @param retryInMs null: as soon as a message is open */
  async release(claim: ConversationClaim, retryInMs: number | null, failures: number): Promise<void> {
    await this.database.query(RELEASE, [...this.held(claim), retryInMs, failures]);
  }

  /** Throws `LeaseLost`. */
  async setSession(claim: ConversationClaim, sessionId: string): Promise<void> {
    const rows = await this.database.query(SET_SESSION, [...this.held(claim), sessionId]);
    if (rows.length === 0) throw new LeaseLost();
  }

  /** The latest active conversations, newest first. */
  async recent(channel: string, most: number): Promise<string[]> {
    const rows = await this.database.query<{ conversation: string }>(RECENT, [channel, most]);
    return rows.map(({ conversation }) => conversation);
  }

  private held({ channel, conversation, fence }: ConversationClaim) {
    return [this.replica.value, channel, conversation, fence] as const;
  }
}

export function conversationKey({
  channel,
  conversation,
}: Pick<ConversationClaim, 'channel' | 'conversation'>): string {
  return `${channel} ${conversation}`;
}
