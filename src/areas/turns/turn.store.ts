import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { Database } from '../../platform/database/database.js';
import { DatabaseAway } from '../../platform/database/database-failure.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { throughOutage } from '../../platform/database/through-outage.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { holdToken } from '../../platform/tokens/token-endings.js';
import { budgetsJson } from '../usage/usage.api.js';
import { type ClaimedRow, type ClaimedTurn, claimedTurn } from './claimed-turn.js';
import { LIMIT_USAGE, LOCK_SESSION, LOCK_TOKEN } from './limits/spending.sql.js';
import { lockBytes, refuseTooManyBytes, refuseTooManyWaiting } from './limits/token-shares.store.js';
import { isLimited, type TurnAllowance } from './limits/turn-allowance.js';
import type { TurnOrigin } from './lost/turn-origin.js';
import type { NewUserMessage } from './message.js';
import {
  type QueueLimits,
  type QueueRefusal,
  refusalOf,
  type SessionTurnState,
} from './session-turn-state.js';
import { LEASE_SECS } from './turn-lease.js';
import * as begin from './turn-start.sql.js';
import { TurnInterrupted } from './turns.errors.js';

/** How long to try to read the history of a turn that has begun. Nobody renews its lease yet. */
const HISTORY_MS = (LEASE_SECS * 1000) / 4;

export interface WaitingTurn {
  readonly sessionId: string;
  readonly turnId: string;
  readonly userMessageId: string;
  /** Whether any replica may take it. */
  readonly isAccepted?: true;
}

export type EnqueueResult = { readonly waiting: WaitingTurn } | { readonly refused: QueueRefusal };

/** The statements that begin turns: who gets a session, and who waits for it. */
@Injectable()
export class TurnStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    private readonly signal: EventSignal,
    private readonly settings: Settings,
  ) {}

  /** Takes a free session at once. Undefined when it is busy, ended, unknown or out of limits; then nothing was written. */
  async start(
    sessionId: string,
    message: NewUserMessage,
    limits: StartLimits,
  ): Promise<ClaimedTurn | undefined> {
    const turn = newTurn(sessionId, message);
    const attempt = (runner: SqlRunner) => this.claimNew(runner, turn, message, limits);
    const { allowance } = limits;
    const isAlone =
      message.attachments.length === 0 && message.onCommit === undefined && allowance.tokenTurns === 0;
    const claimed = isAlone
      ? await attempt(this.database)
      : await this.database.transaction(async (runner) => {
          await lockToken(runner, allowance);
          await lockBytes(runner, allowance, bytesOf(message));
          const row = await attempt(runner);
          if (row !== undefined) await storeWith(runner, turn, message, allowance);
          return row;
        });
    return this.begun(turn, claimed, limits);
  }

  /**
   * Puts a message at the end of the session's line, or says why not. Throws `TokenRevoked`, and `TurnLimitReached` for
   * a share.
   */
  enqueue(sessionId: string, message: NewUserMessage, limits: QueueLimits): Promise<EnqueueResult> {
    return this.database.transaction(async (runner) => {
      const { timeoutSecs, allowance, caller } = limits;
      await holdToken(runner, caller);
      await lockBytes(runner, allowance, bytesOf(message));
      await runner.query(LOCK_SESSION, { session: sessionId });
      const [session] = await runner.query(LIMIT_USAGE, {
        ...{ session: sessionId, timeoutSecs, turn: null },
        ...{ token: allowance.tokenId, budgets: budgetsJson(allowance.budgets) },
      });
      const refused = refusalOf(session, limits);
      if (refused !== undefined) return { refused };
      await refuseTooManyWaiting(runner, allowance);
      const waiting = newTurn(sessionId, message);
      const { turnId, userMessageId } = waiting;
      const ids = { session: sessionId, turn: turnId, message: userMessageId };
      await runner.query(begin.INSERT_WAITING_MESSAGE, {
        ...ids,
        ...{ content: message.content, attachments: attachmentsJson(message) },
      });
      await runner.query(begin.INSERT_WAITING_TURN, {
        ...{ ...ids, token: caller.tokenId },
        caller: limits.isAccepted ? JSON.stringify(caller) : null,
        options: message.options === undefined ? null : JSON.stringify(message.options),
      });
      await storeWith(runner, waiting, message, allowance);
      return { waiting };
    });
  }

  /** Takes the session for the first in line. Undefined while it is not its turn; then nothing was written. */
  async startWaiting(turn: WaitingTurn, limits: StartLimits): Promise<ClaimedTurn | undefined> {
    const attempt = async (runner: SqlRunner) => {
      if (turn.isAccepted && !(await lockAccepted(runner, turn))) return undefined;
      await lockToken(runner, limits.allowance);
      const given = this.turnParams(turn, limits);
      const [row]: ClaimedRow[] = isLimited(limits.allowance)
        ? await runner.query(begin.START_WAITING_LIMITED, { ...given, ...limitParams(limits.allowance) })
        : await runner.query(begin.START_WAITING, given);
      return row;
    };
    const isAlone = limits.allowance.tokenTurns === 0 && !turn.isAccepted;
    const claimed = await (isAlone ? attempt(this.database) : this.database.transaction(attempt));
    return this.begun(turn, claimed, limits);
  }

  /** Deletes a waiting message from the line with all its traces. False when it was not waiting any more. */
  async leaveQueue(turn: WaitingTurn): Promise<boolean> {
    return (
      (await this.database.query(begin.LEAVE_QUEUE, { turn: turn.turnId, session: turn.sessionId })).length >
      0
    );
  }

  /**
   * Keeps the places of messages in their lines for another `LEASE_SECS`.
   * @returns the turns that still have one
   */
  async keepPlaces(turnIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query(begin.KEEP_PLACES, { turns: turnIds });
    return new Set(rows.map(({ id }) => id));
  }

  /** The state of the session for a message in its line. Undefined for a session that does not exist. */
  async sessionState(turn: WaitingTurn, limits: StartLimits): Promise<SessionTurnState | undefined> {
    const { timeoutSecs, allowance } = limits;
    const { tokenId, budgets } = allowance;
    const [state] = await this.database.query(LIMIT_USAGE, {
      ...{ session: turn.sessionId, timeoutSecs, turn: turn.turnId },
      ...{ token: tokenId, budgets: budgetsJson(budgets) },
    });
    return state;
  }

  private async claimNew(runner: SqlRunner, turn: WaitingTurn, message: NewUserMessage, limits: StartLimits) {
    const given = {
      ...this.turnParams(turn, limits),
      ...{ content: message.content, attachments: attachmentsJson(message) },
    };
    const [row]: ClaimedRow[] = isLimited(limits.allowance)
      ? await runner.query(begin.START_LIMITED, { ...given, ...limitParams(limits.allowance) })
      : await runner.query(begin.START, given);
    return row;
  }

  private turnParams(turn: WaitingTurn, limits: StartLimits) {
    return {
      ...{ session: turn.sessionId, turn: turn.turnId, message: turn.userMessageId },
      replica: this.replica.value,
      timeoutSecs: limits.timeoutSecs,
      historyMessages: limits.historyMessages,
      withContent: this.settings.current.hooks.include_content,
      origin: JSON.stringify(limits.origin),
      token: limits.allowance.tokenId,
    };
  }

  private async begun(
    turn: WaitingTurn,
    row: ClaimedRow | undefined,
    { allowance, historyMessages }: StartLimits,
  ): Promise<ClaimedTurn | undefined> {
    this.signal.queued(row?.deliveries);
    if (row === undefined) return undefined;
    const before = row.message_count - 1;
    // What was said while the statement waited for the session is missing.
    if (before > row.messages_cut && row.history[0]?.seq !== before) {
      Object.assign(row, await this.historyBefore(turn, row, historyMessages));
    }
    return claimedTurn(turn, row, budgetsJson(allowance.budgets));
  }

  /** The turn has begun, so a failure is never one after which nothing was changed. */
  private async historyBefore({ sessionId }: WaitingTurn, row: ClaimedRow, historyMessages: number) {
    const place = { cut: row.messages_cut, place: row.message_count };
    const params = { session: sessionId, historyMessages, ...place };
    try {
      const read = () => this.database.query(begin.READ_HISTORY, params);
      const [now] = await throughOutage(read, { limitMs: HISTORY_MS });
      return now;
    } catch (error) {
      throw error instanceof DatabaseAway ? new TurnInterrupted(error) : error;
    }
  }
}

export interface StartLimits {
  readonly timeoutSecs: number;
  readonly historyMessages: number;
  readonly allowance: TurnAllowance;
  readonly limits: GatewaySettings['limits'];
  readonly origin: TurnOrigin;
}

function newTurn(sessionId: string, { id = newId('msg') }: NewUserMessage): WaitingTurn {
  return { sessionId, turnId: newId('turn'), userMessageId: id };
}

function limitParams({ tokenDailyTokens, tokenTurns, sessionDailyTokens, budgets }: TurnAllowance) {
  return { tokenDailyTokens, tokenTurns, sessionDailyTokens, budgets: budgetsJson(budgets) };
}

async function lockToken(runner: SqlRunner, { tokenId, tokenTurns }: TurnAllowance): Promise<void> {
  if (tokenTurns > 0) await runner.query(LOCK_TOKEN, { token: tokenId });
}

/** False when another replica has taken it, or is about to. */
async function lockAccepted(runner: SqlRunner, { turnId, sessionId }: WaitingTurn): Promise<boolean> {
  return (await runner.query(begin.LOCK_ACCEPTED, { turn: turnId, session: sessionId })).length > 0;
}

/** What a message has besides its own row. Throws `TurnLimitReached` for more bytes than its API token may store. */
async function storeWith(
  runner: SqlRunner,
  { turnId, userMessageId }: WaitingTurn,
  message: NewUserMessage,
  allowance: TurnAllowance,
): Promise<void> {
  const { attachments, onCommit } = message;
  await refuseTooManyBytes(runner, allowance, bytesOf(message));
  for (const { id, data } of attachments)
    await runner.query(begin.INSERT_ATTACHMENT, {
      id,
      message: userMessageId,
      data,
      family: allowance.family,
    });
  await onCommit?.(runner, turnId);
}

const bytesOf = ({ attachments }: NewUserMessage): number =>
  attachments.reduce((sum, { data }) => sum + data.length, 0);

function attachmentsJson(message: NewUserMessage): string {
  return JSON.stringify(message.attachments.map(({ data: _bytes, ...info }) => info));
}
