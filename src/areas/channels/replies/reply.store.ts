import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../../../platform/database/database.js';
import { arrayOf, bigint, integer, nullable, oneOf, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import type { TurnFile } from '../../turns/turns.api.js';
import { ChannelReplyEntity, type ReplyStatus } from '../channel.entities.js';
import { LeaseLost } from '../channel-failures.js';
import { type ConversationClaim, HELD, HOLDER, holderOf } from '../conversations/conversation.store.js';
import type { OpenMessage } from '../inbound/inbox.store.js';

/**
 * Only the replica that holds the conversation (see `HELD`) may write replies. The row is locked, so that nobody else claims
 * the conversation until this is committed: who does then sees what was written.
 */
const HOLDING = `held AS MATERIALIZED (SELECT 1 FROM channel_conversations WHERE ${HELD} FOR SHARE)`;
const IF_HELD = `EXISTS (SELECT 1 FROM held)`;

/** Notes that a draft is about to be shown. */
const DRAFT = statement({
  name: 'channel_replies.draft',
  params: { ...HOLDER, message: text, content: text },
  row: { part: integer },
  sql: `
    WITH ${HOLDING}
    INSERT INTO channel_replies (message_id, part, content, status)
    SELECT :message, 1, :content, 'draft' WHERE ${IF_HELD} ON CONFLICT (message_id, part) DO NOTHING RETURNING part`,
});
const HOLDS = statement({
  name: 'channel_replies.holds',
  params: HOLDER,
  row: { held: integer },
  sql: `SELECT 1 AS held FROM channel_conversations WHERE ${HELD}`,
});

/** Stores the parts of the answer to a message, whose row is `id`. A draft becomes part 1. */
const WRITE = statement({
  name: 'channel_replies.write',
  params: {
    ...HOLDER,
    message: text,
    id: bigint,
    contents: arrayOf(text),
    status: oneOf<ReplyStatus>(),
    files: arrayOf(nullable(text)),
  },
  row: { id: bigint },
  sql: `
    WITH ${HOLDING}, answered AS (
      UPDATE channel_messages SET answered_at = now()
      WHERE id = :id AND answered_at IS NULL AND ${IF_HELD} RETURNING id
    ), written AS (
      INSERT INTO channel_replies (message_id, part, content, status, file)
      SELECT :message, place, content, :status, file::json
      FROM answered, unnest(:contents::text[], :files::text[]) WITH ORDINALITY AS parts (content, file, place)
      ON CONFLICT (message_id, part) DO UPDATE SET content = EXCLUDED.content, status = EXCLUDED.status
      WHERE channel_replies.status = 'draft'
    )
    SELECT id FROM answered`,
});
/** Adds one part after the others. */
const ADD = statement({
  name: 'channel_replies.add',
  params: { message: text, content: text },
  row: {},
  sql: `
    INSERT INTO channel_replies (message_id, part, content, status)
    SELECT :message, max(part) + 1, :content, 'pending' FROM channel_replies WHERE message_id = :message
    ON CONFLICT (message_id, part) DO NOTHING`,
});
/** Marks a part before it leaves: until its outcome is stored, it is unknown whether it arrived. */
const SENDING = statement({
  name: 'channel_replies.sending',
  params: { ...HOLDER, message: text, part: integer },
  row: { part: integer },
  sql: `
    WITH ${HOLDING}
    UPDATE channel_replies SET status = 'sending', attempts = attempts + 1
    WHERE message_id = :message AND part = :part AND ${IF_HELD} RETURNING part`,
});
const ENDED = statement({
  name: 'channel_replies.ended',
  params: {
    message: text,
    part: integer,
    status: oneOf<ReplyStatus>(),
    error: nullable(text),
    external: nullable(text),
  },
  row: {},
  sql: `
    UPDATE channel_replies SET status = :status, error = :error, external_id = coalesce(:external, external_id)
    WHERE message_id = :message AND part = :part`,
});

export type ReplyPart = Readonly<Omit<ChannelReplyEntity, 'messageId'>>;

/** The outbox of the channels: every part of every answer and its status. */
@Injectable()
export class ReplyStore {
  constructor(
    private readonly database: Database,
    @InjectRepository(ChannelReplyEntity) private readonly replies: Repository<ChannelReplyEntity>,
    private readonly replica: ReplicaId,
  ) {}

  /** Notes that a draft is about to be shown. False when there is one already, or the lease is lost. */
  async draft(claim: ConversationClaim, { messageId }: OpenMessage, content: string): Promise<boolean> {
    const drafted = await this.database.query(DRAFT, {
      ...holderOf(this.replica, claim),
      message: messageId,
      content: storableText(content),
    });
    return drafted.length > 0;
  }

  async drafted({ messageId }: OpenMessage, externalId: string): Promise<void> {
    await this.database.answered(this.replies.update({ messageId, part: 1 }, { externalId }));
  }

  /** Whether this replica still holds the conversation. */
  async holds(claim: ConversationClaim): Promise<boolean> {
    return (await this.database.query(HOLDS, holderOf(this.replica, claim))).length > 0;
  }

  /** Stores the complete answer: its texts, then its files. Throws `LeaseLost`. */
  async write(
    claim: ConversationClaim,
    { messageId, id }: OpenMessage,
    parts: readonly (string | TurnFile)[],
    status: 'pending' | 'sent',
  ): Promise<void> {
    const contents = parts.map((part) => storableText(typeof part === 'string' ? part : part.name));
    const files = parts.map((part) => (typeof part === 'string' ? null : JSON.stringify(part)));
    const answered = await this.database.query(WRITE, {
      ...holderOf(this.replica, claim),
      message: messageId,
      id,
      ...{ contents, files, status },
    });
    if (answered.length === 0) throw new LeaseLost();
  }

  async add({ messageId }: OpenMessage, content: string): Promise<void> {
    await this.database.query(ADD, { message: messageId, content });
  }

  async partsOf(messageId: string): Promise<ReplyPart[]> {
    return this.database.answered(this.replies.find({ where: { messageId }, order: { part: 'ASC' } }));
  }

  /** Throws `LeaseLost`. */
  async sending(claim: ConversationClaim, { messageId }: OpenMessage, part: number): Promise<void> {
    const rows = await this.database.query(SENDING, {
      ...holderOf(this.replica, claim),
      message: messageId,
      part,
    });
    if (rows.length === 0) throw new LeaseLost();
  }

  async ended(
    { messageId }: OpenMessage,
    part: number,
    status: 'pending' | 'sent' | 'unknown' | 'failed',
    result: { readonly externalId?: string | undefined; readonly error?: string } = {},
  ): Promise<void> {
    await this.database.query(ENDED, {
      ...{ message: messageId, part, status },
      ...{ error: result.error ?? null, external: result.externalId ?? null },
    });
  }

  /** The message to edit is gone: forgets its id, so that the part is sent as a new message. */
  async detach({ messageId }: OpenMessage, part: number): Promise<void> {
    const anew = { externalId: null, status: 'pending' } as const;
    await this.database.answered(this.replies.update({ messageId, part }, anew));
  }
}
