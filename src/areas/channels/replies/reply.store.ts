import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { LeaseLost } from '../channel-failures.js';
import type { ConversationClaim } from '../conversations/conversation.store.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import * as sql from './reply.sql.js';

/** `draft`: shown while it is written. `unknown`: it may have arrived, so it is not sent again. */
export type ReplyStatus = 'draft' | 'pending' | 'sending' | 'sent' | 'unknown' | 'failed';

export interface ReplyPart {
  /** From 1. */
  readonly part: number;
  readonly content: string;
  readonly status: ReplyStatus;
  readonly externalId: string | null;
  readonly attempts: number;
}

interface PartRow {
  part: number;
  content: string;
  status: ReplyStatus;
  external_id: string | null;
  attempts: number;
}

/** The outbox of the channels: every part of every answer, with what became of it. */
@Injectable()
export class ReplyStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Notes that a draft is about to be shown. False when there is one already, or the conversation is lost. */
  async draft(claim: ConversationClaim, { messageId }: OpenMessage, text: string): Promise<boolean> {
    const values = [...this.held(claim), messageId, storableText(text)];
    return (await this.database.query(sql.DRAFT, values)).length > 0;
  }

  async drafted({ messageId }: OpenMessage, externalId: string): Promise<void> {
    await this.database.query(sql.DRAFTED, [messageId, externalId]);
  }

  /** Whether anything may still be said there. */
  async holds(claim: ConversationClaim): Promise<boolean> {
    return (await this.database.query(sql.HOLDS, this.held(claim))).length > 0;
  }

  /** The answer as it is to be said. Throws `LeaseLost`. */
  async write(
    claim: ConversationClaim,
    { messageId, id }: OpenMessage,
    parts: readonly string[],
    status: 'pending' | 'sent',
  ): Promise<void> {
    const values = [...this.held(claim), messageId, id, parts.map(storableText), status];
    if ((await this.database.query(sql.WRITE, values)).length === 0) throw new LeaseLost();
  }

  async add({ messageId }: OpenMessage, text: string): Promise<void> {
    await this.database.query(sql.ADD, [messageId, text]);
  }

  async partsOf(messageId: string): Promise<ReplyPart[]> {
    const rows = await this.database.query<PartRow>(sql.OF_MESSAGE, [messageId]);
    return rows.map(({ external_id: externalId, ...row }) => ({ ...row, externalId }));
  }

  /** Throws `LeaseLost`. */
  async sending(claim: ConversationClaim, { messageId }: OpenMessage, part: number): Promise<void> {
    const rows = await this.database.query(sql.SENDING, [...this.held(claim), messageId, part]);
    if (rows.length === 0) throw new LeaseLost();
  }

  async ended(
    { messageId }: OpenMessage,
    part: number,
    status: 'pending' | 'sent' | 'unknown' | 'failed',
    result: { readonly externalId?: string | undefined; readonly error?: string } = {},
  ): Promise<void> {
    await this.database.query(sql.ENDED, [
      messageId,
      part,
      status,
      result.error ?? null,
      result.externalId ?? null,
    ]);
  }

  async untie({ messageId }: OpenMessage, part: number): Promise<void> {
    await this.database.query(sql.UNTIE, [messageId, part]);
  }

  private held({ channel, conversation, fence }: ConversationClaim) {
    return [this.replica.value, channel, conversation, fence] as const;
  }
}
