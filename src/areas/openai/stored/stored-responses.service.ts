import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { isId } from '../../../common/ids/typeid.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { type TurnRecord, TurnRecords } from '../../live/live.api.js';
import { MessagesService, SessionsService } from '../../sessions/sessions.api.js';
import { SessionEnded } from '../../turns/turns.api.js';
import { ResponseNotFound } from '../openai.errors.js';
import type { Echo } from '../requests/response-echo.js';
import { type ResponseState, responseIdOf, turnIdOf } from '../responses/response-view.js';
import { StoredResponseStore } from './stored-response.store.js';

/** A response as it is stored. */
export interface StoredResponse {
  readonly turnId: string;
  readonly state: ResponseState;
  readonly record: TurnRecord;
}

/** How long a cancelled turn may take to end before it is shown as it is. */
const CANCEL_MS = 3000;
const POLL_MS = 100;

/**
 * Responses that can be found again. One is a turn, a chain of them a session: any replica knows them, they outlive their
 * callers and their replicas, and the rules of sessions hold.
 */
@Injectable()
export class StoredResponses {
  constructor(
    private readonly store: StoredResponseStore,
    private readonly sessions: SessionsService,
    private readonly messages: MessagesService,
    private readonly records: TurnRecords,
  ) {}

  /** Throws `ResponseNotFound` also for somebody else's response. */
  async find(id: string, caller: Caller, path = 'id'): Promise<StoredResponse> {
    const turnId = turnIdOf(id);
    const kept = isId('turn', turnId) ? await this.store.find(turnId) : undefined;
    const record = kept && (await this.records.find(turnId));
    if (kept === undefined || record === undefined) throw new ResponseNotFound(path);
    await this.refuseForeign(record.sessionId, caller, path);
    const createdAt = Math.floor(kept.created_at.getTime() / 1000);
    return { turnId, record, state: stateOf(turnId, { createdAt, echo: kept.request }, record) };
  }

  /** Ends its turn, wherever it runs or waits; a finished response stays as it is. */
  async cancel(id: string, caller: Caller): Promise<StoredResponse> {
    let now = await this.find(id, caller);
    if (now.record.status === 'over') return now;
    await this.messages.cancelTurn(now.record.sessionId, now.turnId, caller);
    // The result of a turn is stored a moment after it was said.
    const deadline = performance.now() + CANCEL_MS;
    for (;;) {
      now = await this.find(id, caller);
      if (now.record.status === 'over' || performance.now() >= deadline) return now;
      await sleep(POLL_MS);
    }
  }

  /** Deletes a response. With the last one of its conversation the session ends. */
  async forget(id: string, caller: Caller): Promise<void> {
    const { turnId, record } = await this.cancel(id, caller);
    if (!(await this.store.forget(turnId, record.sessionId))) return;
    try {
      await this.sessions.end(record.sessionId, caller);
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
    }
  }

  private async refuseForeign(sessionId: string, caller: Caller, path: string): Promise<void> {
    try {
      await this.sessions.find(sessionId, caller);
    } catch (error) {
      if (error instanceof GatewayError && (error.status === 403 || error.status === 404))
        throw new ResponseNotFound(path);
      throw error;
    }
  }
}

/** What is known about a response whose turn has begun or waits. */
function stateOf(
  turnId: string,
  { createdAt, echo }: { readonly createdAt: number; readonly echo: Echo },
  { status, outcome, answer, error }: Pick<TurnRecord, 'status' | 'outcome' | 'answer' | 'error'>,
): ResponseState {
  return {
    id: responseIdOf(turnId),
    createdAt,
    echo,
    status: STATUS[status],
    isCancelled: outcome === 'cancelled',
    answer,
    error,
  };
}

const STATUS = { waiting: 'queued', running: 'in_progress', over: 'over' } as const;
