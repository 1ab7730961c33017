import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { LeaseLost } from '../channel-failures.js';
import * as sql from './conversation.sql.js';

/** The right to answer in a conversation, one message after the other. */
export interface ConversationClaim {
  readonly channel: string;
  readonly conversation: string;
  readonly fence: number;
  /** The session that it had last; it may have ended. */
  readonly sessionId: string | null;
  /** Tries in a row that came to nothing. */
  readonly failures: number;
}

interface ClaimRow {
  channel: string;
  conversation: string;
  session_id: string | null;
  fence: number;
  failures: number;
}

/** Who answers in which conversation. */
@Injectable()
export class ConversationStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  async claim(channels: readonly string[], most: number): Promise<ConversationClaim[]> {
    const rows = await this.database.query<ClaimRow>(sql.CLAIM, [this.replica.value, channels, most]);
    return rows.map(({ session_id: sessionId, ...row }) => ({ ...row, sessionId }));
  }

  /** @returns those that are still this replica's */
  async renew(claims: readonly ConversationClaim[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ channel: string; conversation: string }>(sql.RENEW, [
      this.replica.value,
      claims.map(({ channel }) => channel),
      claims.map(({ conversation }) => conversation),
      claims.map(({ fence }) => fence),
    ]);
    return new Set(rows.map(conversationKey));
  }

  /** @param retryInMs null: as soon as there is something to do */
  async release(claim: ConversationClaim, retryInMs: number | null, failures: number): Promise<void> {
    await this.database.query(sql.RELEASE, [...this.held(claim), retryInMs, failures]);
  }

  /** Throws `LeaseLost`. */
  async setSession(claim: ConversationClaim, sessionId: string): Promise<void> {
    const rows = await this.database.query(sql.SET_SESSION, [...this.held(claim), sessionId]);
    if (rows.length === 0) throw new LeaseLost();
  }

  /** In which somebody wrote last, newest first. */
  async recent(channel: string, most: number): Promise<string[]> {
    const rows = await this.database.query<{ conversation: string }>(sql.RECENT, [channel, most]);
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
