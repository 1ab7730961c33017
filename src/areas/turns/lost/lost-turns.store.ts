import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { ModelSpending } from '../../usage/usage.api.js';
import { type ClaimedTurn, claimedTurn } from '../claimed-turn.js';
import type { AttachmentInfo, NewUserMessage } from '../message.js';
import { MessageStore } from '../message.store.js';
import { type TurnStep, toStep } from '../rounds/turn-steps.store.js';
import { leaseParams, type TurnLease } from '../turn-lease.js';
import * as sql from './lost-turns.sql.js';
import type { TurnOrigin } from './turn-origin.js';

/** A turn whose replica died or stopped; `fence` is that of its lost lease. */
export interface LostTurn extends TurnLease {
  readonly origin: TurnOrigin;
}

/** A turn that this replica continues. */
export interface TakenUpTurn {
  readonly claimed: ClaimedTurn;
  readonly message: NewUserMessage;
  /** Its stored steps, in the order in which they were stored. */
  readonly steps: readonly TurnStep[];
  /** The number of the last step; 0 without any. */
  readonly lastStep: number;
  /** Whether it was to be cancelled when its replica died. */
  readonly isCancelled: boolean;
  /** From 2: grows with each attempt. */
  readonly attempt: number;
  /** Milliseconds that it ran, as far as known: without its time on a replica that died. */
  readonly ranMs: number;
}

/** What is stored of a turn that is released. */
export interface HandedOverTurn {
  /** Milliseconds that it ran. */
  readonly ranMs: number;
  /** What it spent since its last step. */
  readonly unstored: readonly ModelSpending[];
  /** Whether the attempt counts towards `turns.max_attempts`: not when it is released because its replica stops. */
  readonly isAttempt: boolean;
}

/** The statements about turns that lost their replica and continue. */
@Injectable()
export class LostTurnsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    private readonly messages: MessageStore,
    private readonly settings: Settings,
  ) {}

  /** At most `most` turns that can be taken up now, the oldest first. */
  async due(most: number): Promise<LostTurn[]> {
    const { agent, turns } = this.settings.current;
    const rows = await this.database.query(sql.DUE, {
      mayResume: agent.resume,
      maxAttempts: turns.max_attempts,
      most,
    });
    return rows.map((row) => ({
      turnId: row.id,
      sessionId: row.session_id,
      userMessageId: row.user_message_id,
      fence: row.fence,
      origin: row.origin,
    }));
  }

  /** Undefined when another replica was faster, or the session has ended. */
  async takeUp(turn: LostTurn): Promise<TakenUpTurn | undefined> {
    const { turnId, userMessageId, origin } = turn;
    const historyMessages = this.settings.current.agent.history_max_messages;
    const [row] = await this.database.query(sql.TAKE_UP, {
      ...{ ...leaseParams(turn, this.replica), message: userMessageId, historyMessages },
    });
    if (row === undefined) return undefined;
    const claimed = claimedTurn(turn, { ...row, message_count: row.seq }, '');
    const { options, systemNote } = origin;
    const said = (await this.messages.sent(userMessageId)) ?? { content: '', attachments: [] };
    const attachments = await this.withBytes(userMessageId, said.attachments);
    const message = { id: userMessageId, content: said.content, attachments, options, systemNote };
    const steps = await this.database.query(sql.STEPS, { turn: turnId });
    const lastStep = steps.at(-1)?.number ?? 0;
    return {
      claimed,
      message,
      steps: steps.map(toStep),
      lastStep,
      isCancelled: row.cancelled,
      attempt: row.take_ups + 1,
      ranMs: row.ran_ms,
    };
  }

  /**
   * Releases a turn that runs here, so that another replica continues it at once. False when this replica no longer
   * held it.
   */
  async handOver(lease: TurnLease, { ranMs, unstored, isAttempt }: HandedOverTurn): Promise<boolean> {
    const spent = unstored.length === 0 ? null : JSON.stringify({ spending: unstored });
    const given = { ...leaseParams(lease, this.replica), ranMs, spent, isAttempt };
    return (await this.database.query(sql.HAND_OVER, given)).length > 0;
  }

  /** The same, until one of these approvals is decided or expires. */
  async park(lease: TurnLease, ranMs: number, questions: readonly string[]): Promise<boolean> {
    const given = { ...leaseParams(lease, this.replica), ranMs, questions };
    return (await this.database.query(sql.PARK, given)).length > 0;
  }

  /** Its token may have been revoked while it was parked. */
  async wake({ sessionId }: TurnLease): Promise<void> {
    await this.database.query(sql.WAKE_OF_SESSION, { session: sessionId });
  }

  /**
   * Marks parked turns as lost whose approvals nobody decided in time; with `isUnsaid`, also those that nothing woke.
   */
  async wakeOverdue(isUnsaid: boolean): Promise<void> {
    await this.database.query(sql.WAKE_OVERDUE);
    if (isUnsaid) await this.database.query(sql.WAKE_UNSAID);
  }

  private async withBytes(messageId: string, attachments: readonly AttachmentInfo[]) {
    if (attachments.length === 0) return [];
    const bytes = await this.messages.attachedTo([messageId]);
    return attachments.map((info) => ({ ...info, data: bytes.get(info.id) ?? Buffer.alloc(0) }));
  }
}
