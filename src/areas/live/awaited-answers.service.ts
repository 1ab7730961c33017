import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InternalError } from '../../common/errors/gateway-error.js';
import { Readiness } from '../../platform/lifecycle/readiness.js';
import { Settings } from '../../platform/settings/settings.js';
import { type Message, type StartedTurn, TurnAwaitsApproval, TurnInterrupted } from '../turns/turns.api.js';
import { TurnRecords } from './turn-records.store.js';

const POLL_MS = 200;

/** Waits with a caller for the answer of a turn that may be parked until a person decides. */
@Injectable()
export class AwaitedAnswers {
  constructor(
    private readonly records: TurnRecords,
    private readonly readiness: Readiness,
    private readonly settings: Settings,
  ) {}

  /**
   * Throws what the turn throws. Undefined when a person has kept it waiting for `agent.max_wait_ms`, when this replica stops
   * meanwhile, or when the caller has gone: the answer then comes into the history.
   */
  async of({ answer, live }: StartedTurn, hasLeft: () => boolean): Promise<Message | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof TurnAwaitsApproval)) throw error;
      return this.later(live.turnId, hasLeft);
    }
  }

  private async later(turnId: string, hasLeft: () => boolean): Promise<Message | undefined> {
    let waitedMs = 0;
    let lookedAt = performance.now();
    while (!hasLeft() && !this.readiness.isDraining) {
      const record = await this.records.find(turnId);
      if (record === undefined) throw new TurnInterrupted();
      const { status, answer, error, awaitsApproval } = record;
      if (status === 'over') {
        if (error !== undefined) throw error;
        if (answer === undefined) throw new InternalError('A turn that was completed has no answer.');
        return answer;
      }
      // Once a person has decided, the turn is like any other.
      if (awaitsApproval) waitedMs += performance.now() - lookedAt;
      lookedAt = performance.now();
      if (waitedMs >= this.settings.current.agent.max_wait_ms) return undefined;
      await sleep(POLL_MS, undefined, { ref: false });
    }
    return undefined;
  }
}
