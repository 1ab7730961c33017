import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  double,
  integer,
  nullable,
  type ParamsOf,
  text,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { ConversationEntity } from '../channel.entities.js';
import { LeaseLost } from '../channel-failures.js';

/** A claim that is not renewed for this long can be taken by any replica. */
export const CONVERSATION_LEASE_SECS = 15;

const LEASE_END = `now() + interval '${CONVERSATION_LEASE_SECS} seconds'`;
/** Whether a replica still has the right to answer: a condition, and its parameters. */
export const HELD =
  'channel = :channel AND conversation = :conversation AND owner = :replica AND fence = :fence';
export const HOLDER = { replica: text, channel: text, conversation: text, fence: bigint };

/** Claims conversations with open messages, of those channels that are connected. */
const CLAIM = statement({
  name: 'channel_conversations.claim',
  params: { replica: text, channels: arrayOf(text), most: bigint },
  row: {
    ...columnsOf(ConversationEntity, 'channel', 'conversation', 'sessionId', 'failures'),
    fence: double,
  },
  sql: `
    UPDATE channel_conversations AS one SET owner = :replica, lease_until = ${LEASE_END}, fence = one.fence + 1
    FROM (
      SELECT known.channel, known.conversation
      FROM channel_conversations AS known
      WHERE (known.channel, known.conversation) IN (
          SELECT channel, conversation FROM channel_messages
          WHERE done_at IS NULL AND channel IN (
            SELECT name FROM channel_states WHERE name = ANY (:channels) AND status = 'connected'))
        AND (known.owner IS NULL OR known.lease_until < now())
        AND (known.retry_at IS NULL OR known.retry_at <= now())
      LIMIT :most FOR UPDATE SKIP LOCKED
    ) AS free
    WHERE one.channel = free.channel AND one.conversation = free.conversation
    RETURNING one.channel, one.conversation, one.session_id, one.fence::float8 AS fence, one.failures`,
});

const RENEW = statement({
  name: 'channel_conversations.renew',
  params: { replica: text, channels: arrayOf(text), conversations: arrayOf(text), fences: arrayOf(double) },
  row: { channel: text, conversation: text },
  sql: `
    UPDATE channel_conversations AS one SET lease_until = ${LEASE_END}
    FROM unnest(:channels::text[], :conversations::text[], :fences::float8[]) AS held (channel, conversation, fence)
    WHERE one.channel = held.channel AND one.conversation = held.conversation AND one.owner = :replica
      AND one.fence = held.fence
    RETURNING one.channel, one.conversation`,
});

const RELEASE = statement({
  name: 'channel_conversations.release',
  params: { ...HOLDER, retry_in_ms: nullable(double), failures: integer },
  row: {},
  sql: `
    UPDATE channel_conversations SET owner = NULL, lease_until = NULL, failures = :failures,
      retry_at = now() + make_interval(secs => :retry_in_ms::float8 / 1000)
    WHERE ${HELD}`,
});

const SET_SESSION = statement({
  name: 'channel_conversations.set_session',
  params: { ...HOLDER, session: text },
  row: { session_id: text },
  sql: `UPDATE channel_conversations SET session_id = :session WHERE ${HELD} RETURNING session_id`,
});

const RECENT = statement({
  name: 'channel_conversations.recent',
  params: { channel: text, most: bigint },
  row: { conversation: text },
  sql: `
    SELECT conversation FROM channel_conversations WHERE channel = :channel
    ORDER BY written_at DESC, conversation LIMIT :most`,
});

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

/** Which replica answers in which conversation. */
@Injectable()
export class ConversationStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  async claim(channels: readonly string[], most: number): Promise<ConversationClaim[]> {
    const rows = await this.database.query(CLAIM, { replica: this.replica.value, channels, most });
    return rows.map(({ session_id: sessionId, ...row }) => ({ ...row, sessionId }));
  }

  /** @returns the keys of those that this replica still holds */
  async renew(claims: readonly ConversationClaim[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query(RENEW, {
      replica: this.replica.value,
      channels: claims.map(({ channel }) => channel),
      conversations: claims.map(({ conversation }) => conversation),
      fences: claims.map(({ fence }) => fence),
    });
    return new Set(rows.map(conversationKey));
  }

  /** @param retryInMs null: as soon as a message is open */
  async release(claim: ConversationClaim, retryInMs: number | null, failures: number): Promise<void> {
    await this.database.query(RELEASE, {
      ...holderOf(this.replica, claim),
      retry_in_ms: retryInMs,
      failures,
    });
  }

  /** Throws `LeaseLost`. */
  async setSession(claim: ConversationClaim, sessionId: string): Promise<void> {
    const rows = await this.database.query(SET_SESSION, {
      ...holderOf(this.replica, claim),
      session: sessionId,
    });
    if (rows.length === 0) throw new LeaseLost();
  }

  /** The latest active conversations, newest first. */
  async recent(channel: string, most: number): Promise<string[]> {
    const rows = await this.database.query(RECENT, { channel, most });
    return rows.map(({ conversation }) => conversation);
  }
}

/** What `HELD` asks for. */
export function holderOf(
  { value: replica }: ReplicaId,
  { channel, conversation, fence }: ConversationClaim,
): ParamsOf<typeof HOLDER> {
  return { replica, channel, conversation, fence };
}

export function conversationKey({
  channel,
  conversation,
}: Pick<ConversationClaim, 'channel' | 'conversation'>): string {
  return `${channel} ${conversation}`;
}
