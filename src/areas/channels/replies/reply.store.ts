import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { Statement } from '../../../platform/database/sql.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import type { TurnFile } from '../../turns/turns.api.js';
import { LeaseLost } from '../channel-failures.js';
import { type ConversationClaim, HELD } from '../conversations/conversation.store.js';
import type { OpenMessage } from '../inbound/inbox.store.js';

/** Only the replica that holds the conversation (see `HELD`) may write replies. */
const IF_HELD = `EXISTS (SELECT 1 FROM channel_conversations WHERE ${HELD})`;

/** Notes that the draft `$6` of message `$5` is about to be shown. */
const DRAFT: Statement = {
  name: 'channel_replies.draft',
  text: `
    INSERT INTO channel_replies (message_id, part, content, status)
    SELECT $5, 1, $6, 'draft' WHERE ${IF_HELD} ON CONFLICT (message_id, part) DO NOTHING RETURNING part`,
};
const DRAFTED: Statement = {
  name: 'channel_replies.drafted',
  text: `UPDATE channel_replies SET external_id = $2 WHERE message_id = $1 AND part = 1`,
};

const HOLDS: Statement = {
  name: 'channel_replies.holds',
  text: `SELECT 1 AS held FROM channel_conversations WHERE ${HELD}`,
};

/** Stores the parts `$7`, with the files `$9`, of the answer to message `$5` (row `$6`) with status `$8`. A draft becomes part 1. */
const WRITE: Statement = {
  name: 'channel_replies.write',
  text: `
    WITH answered AS (
      UPDATE channel_messages SET answered_at = now()
      WHERE id = $6 AND answered_at IS NULL AND ${IF_HELD} RETURNING id
    ), written AS (
      INSERT INTO channel_replies (message_id, part, content, status, file)
      SELECT $5, place, content, $8, file::json
      FROM answered, unnest($7::text[], $9::text[]) WITH ORDINALITY AS parts (content, file, place)
      ON CONFLICT (message_id, part) DO UPDATE SET content = EXCLUDED.content, status = EXCLUDED.status
      WHERE channel_replies.status = 'draft'
    )
    SELECT id FROM answered`,
};
/** Adds one part after the others. */
const ADD: Statement = {
  name: 'channel_replies.add',
  text: `
    INSERT INTO channel_replies (message_id, part, content, status)
    SELECT $1, max(part) + 1, $2, 'pending' FROM channel_replies WHERE message_id = $1
    ON CONFLICT (message_id, part) DO NOTHING`,
};
const OF_MESSAGE: Statement = {
  name: 'channel_replies.of_message',
  text: `SELECT part, content, file, status, external_id, attempts, error FROM channel_replies WHERE message_id = $1 ORDER BY part`,
};

/** Marks a part before it leaves: until its outcome is stored, it is unknown whether it arrived. */
const SENDING: Statement = {
  name: 'channel_replies.sending',
  text: `
    UPDATE channel_replies SET status = 'sending', attempts = attempts + 1
    WHERE message_id = $5 AND part = $6 AND ${IF_HELD} RETURNING part`,
};
const ENDED: Statement = {
  name: 'channel_replies.ended',
  text: `
    UPDATE channel_replies SET status = $3, error = $4, external_id = coalesce($5, external_id)
    WHERE message_id = $1 AND part = $2`,
};
/** The message to edit is gone: forgets its id, so that the part is sent anew. */
const DETACH: Statement = {
  name: 'channel_replies.detach',
  text: `UPDATE channel_replies SET external_id = NULL, status = 'pending' WHERE message_id = $1 AND part = $2`,
};

/** `draft`: shown while the answer is written. `unknown`: may have arrived, so it is not sent again. */
export type ReplyStatus = 'draft' | 'pending' | 'sending' | 'sent' | 'unknown' | 'failed';

export interface ReplyPart {
  /** From 1. */
  readonly part: number;
  /** Its text, or the name of the file. */
  readonly content: string;
  readonly file: TurnFile | null;
  readonly status: ReplyStatus;
  readonly externalId: string | null;
  readonly attempts: number;
  /** Why it was not sent, the last time. */
  readonly error: string | null;
}

interface PartRow {
  part: number;
  content: string;
  file: TurnFile | null;
  status: ReplyStatus;
  external_id: string | null;
  attempts: number;
  error: string | null;
}

/** The outbox of the channels: every part of every answer and its status. */
@Injectable()
export class ReplyStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Notes that a draft is about to be shown. False when there is one already, or the lease is lost. */
  async draft(claim: ConversationClaim, { messageId }: OpenMessage, text: string): Promise<boolean> {
    const values = [...this.held(claim), messageId, storableText(text)];
    return (await this.database.query(DRAFT, values)).length > 0;
  }

  async drafted({ messageId }: OpenMessage, externalId: string): Promise<void> {
    await this.database.query(DRAFTED, [messageId, externalId]);
  }

  /** Whether this replica still holds the conversation. */
  async holds(claim: ConversationClaim): Promise<boolean> {
    return (await this.database.query(HOLDS, this.held(claim))).length > 0;
  }

  /** Stores the complete answer: its texts, then its files. Throws `LeaseLost`. */
  async write(
    claim: ConversationClaim,
    { messageId, id }: OpenMessage,
    parts: readonly (string | TurnFile)[],
    status: 'pending' | 'sent',
  ): Promise<void> {
    const texts = parts.map((part) => storableText(typeof part === 'string' ? part : part.name));
    const files = parts.map((part) => (typeof part === 'string' ? null : JSON.stringify(part)));
    const values = [...this.held(claim), messageId, id, texts, status, files];
    if ((await this.database.query(WRITE, values)).length === 0) throw new LeaseLost();
  }

  async add({ messageId }: OpenMessage, text: string): Promise<void> {
    await this.database.query(ADD, [messageId, text]);
  }

  async partsOf(messageId: string): Promise<ReplyPart[]> {
    const rows = await this.database.query<PartRow>(OF_MESSAGE, [messageId]);
    return rows.map(({ external_id: externalId, ...row }) => ({ ...row, externalId }));
  }

  /** Throws `LeaseLost`. */
  async sending(claim: ConversationClaim, { messageId }: OpenMessage, part: number): Promise<void> {
    const rows = await this.database.query(SENDING, [...this.held(claim), messageId, part]);
    if (rows.length === 0) throw new LeaseLost();
  }

  async ended(
    { messageId }: OpenMessage,
    part: number,
    status: 'pending' | 'sent' | 'unknown' | 'failed',
    result: { readonly externalId?: string | undefined; readonly error?: string } = {},
  ): Promise<void> {
    await this.database.query(ENDED, [
      messageId,
      part,
      status,
      result.error ?? null,
      result.externalId ?? null,
    ]);
  }

  async detach({ messageId }: OpenMessage, part: number): Promise<void> {
    await this.database.query(DETACH, [messageId, part]);
  }

  private held({ channel, conversation, fence }: ConversationClaim) {
    return [this.replica.value, channel, conversation, fence] as const;
  }
}
