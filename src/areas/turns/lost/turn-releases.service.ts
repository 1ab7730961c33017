import { Injectable } from '@nestjs/common';
import { ProviderTimedOut } from '../../../common/errors/gateway-error.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Settings } from '../../../platform/settings/settings.js';
import { ownersOf } from '../../../platform/tokens/caller.js';
import { TokenStore } from '../../../platform/tokens/token.store.js';
import type { LiveTurn } from '../live-turn.js';
import type { CalledTurn } from '../prompt/turn-prompt.js';
import { TurnRelays } from '../relay/turn-relays.service.js';
import { ApprovalWaits } from '../rounds/approval-waits.js';
import { RunningTurns } from '../running-turns.js';
import { TurnHub } from '../turn-hub.js';
import type { TurnLease } from '../turn-lease.js';
import { TurnAwaitsApproval } from '../turns.errors.js';
import { type HandedOverTurn, LostTurnsStore } from './lost-turns.store.js';

/** How long a turn has run, and for how much of that it waited for people. */
export interface TurnTime {
  readonly waits: ApprovalWaits;
  /** Milliseconds on all replicas, without waiting for people. */
  readonly elapsedMs: number;
  /** The turn is over here. */
  end(): void;
}

/**
 * Releases turns that run here, so that any replica can continue them: when this replica stops, and when a turn waits
 * only for people.
 */
@Injectable()
export class TurnReleases {
  private readonly logger: Logger;

  constructor(
    private readonly store: LostTurnsStore,
    private readonly running: RunningTurns,
    private readonly relays: TurnRelays,
    private readonly hub: TurnHub,
    private readonly tokens: TokenStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  /** Aborts the turn when its time is over, and when it is to be parked. */
  timeOf({ earlier }: CalledTurn, abort: AbortController): TurnTime {
    const timeoutMs = this.settings.current.agent.turn_timeout_ms;
    const clock = new TurnClock(timeoutMs, earlier?.ranMs ?? 0, () => abort.abort(turnTimedOut(timeoutMs)));
    const waits = new ApprovalWaits({
      parkAfterMs: () => (this.running.isStopping ? 0 : this.settings.current.turns.park_after_ms),
      onIdle: (isIdle) => (isIdle ? clock.stop() : clock.start()),
      park: (approvalIds) => {
        if (this.settings.current.agent.resume) abort.abort(new TurnAwaitsApproval(approvalIds));
      },
    });
    const stopListening = this.running.whenHandingOver(() => waits.hurry());
    return {
      waits,
      get elapsedMs() {
        return clock.elapsedMs;
      },
      end: () => {
        waits.end();
        clock.stop();
        stopListening();
      },
    };
  }

  /** False when this replica no longer held it. */
  handOver(lease: TurnLease, ran: HandedOverTurn): Promise<boolean> {
    return this.letGo(lease, () => this.store.handOver(lease, ran));
  }

  /**
   * The same until somebody decides. Readers who follow the turn here continue with what other replicas write of it.
   */
  async park(
    turn: CalledTurn,
    live: LiveTurn,
    { approvalIds }: TurnAwaitsApproval,
    ranMs: number,
  ): Promise<boolean> {
    const { lease } = turn;
    await this.relays.leave(live);
    if (!(await this.letGo(lease, () => this.store.park(lease, ranMs, approvalIds)))) return false;
    await this.letGo(lease, () => this.endIfRevoked(turn));
    this.hub.park(live, turn.earlier?.attempt ?? 1);
    return true;
  }

  /** Checked after the turn is parked: a token revoked later wakes the parked turns. */
  private async endIfRevoked({ lease, caller }: CalledTurn): Promise<boolean> {
    const isRevoked = (await this.tokens.endedAmong(ownersOf(caller))).size > 0;
    if (isRevoked) await this.store.wake(lease);
    return true;
  }

  /** A turn that could not be released is found when its lease has expired. */
  private async letGo(lease: TurnLease, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.logger.warn(
        'a turn could not be handed over; another replica takes it up when its lease runs out',
        {
          session_id: lease.sessionId,
          turn_id: lease.turnId,
          error: String(error),
        },
      );
      return true;
    }
  }
}

function turnTimedOut(timeoutMs: number): ProviderTimedOut {
  return new ProviderTimedOut(`The turn was not answered within ${timeoutMs / 1000} s and was stopped.`, {
    details: { reason: 'turn_timeout' },
  });
}

/** The time limit of a turn. It stands still while the turn waits only for people. */
class TurnClock {
  private timer: NodeJS.Timeout | undefined;
  private startedAt = 0;

  /**
   * @param limitMs after so many milliseconds `onTimeout` is called, once
   * @param ranMs what the turn ran before, on other replicas
   */
  constructor(
    private readonly limitMs: number,
    private ranMs: number,
    private readonly onTimeout: () => void,
  ) {
    this.start();
  }

  start(): void {
    if (this.timer !== undefined) return;
    this.startedAt = performance.now();
    this.timer = setTimeout(this.onTimeout, Math.max(0, this.limitMs - this.ranMs));
  }

  stop(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.ranMs += performance.now() - this.startedAt;
  }

  /** Whole milliseconds that the turn has run. */
  get elapsedMs(): number {
    const running = this.timer === undefined ? 0 : performance.now() - this.startedAt;
    return Math.round(this.ranMs + running);
  }
}
