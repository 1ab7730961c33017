import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { EventSignal } from '../../platform/events/event-signal.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { WakeSignal } from '../../platform/runtime/wake-signal.js';
import { FirstAttempts } from './first-attempts.js';
import { ANY_UNSENT } from './lane.store.js';
import { LaneOwner } from './lane-owner.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { Retries } from './retries.js';
import { ANY_RETRY_DUE } from './retry.store.js';

/** The poll that makes certain what the signal makes quick: with every look for due work, in the statement that asks it. */
const UNSENT_POLL_MS = 400;
/** That of retries, and the longest pause after a failure. */
const POLL_MS = 1000;
/** While lanes are held, which have to be renewed. */
const HOLDING_MS = 500;
/** Without a lane nothing is to be done until something is due. */
const IDLE_MS = 30_000;
/** After a signal: so long for company, and so often another look, in case a hook was just being left by another replica. */
const GATHER_MS = 2;
const RECHECK_MS = 25;
const RECHECKS = 2;
/** Lanes that another statement has locked are looked at again after so long. */
const LOCKED_MS = 100;
/** After a failure of the database: the first pause, which doubles up to the poll's. */
const FAILED_MS = 100;
/** What is on its way at a stop may arrive within this, and what it came to be written down within that. */
const STOP_MS = 2000;
const WRITE_MS = 500;

/** Sends what is in the outbox, as long as the process runs. Every replica has one; what is claimed is claimed once. */
@Injectable()
export class Deliverer implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private firstRounds: Promise<void> = Promise.resolve();
  private retryRounds: Promise<void> = Promise.resolve();
  private claimsRetries = false;
  private readonly stopping = new AbortController();
  /** Rings when retries may be due. */
  private readonly retryWakeSignal = new WakeSignal();
  private looks = 0;

  constructor(
    private readonly firsts: FirstAttempts,
    private readonly retries: Retries,
    private readonly owner: LaneOwner,
    private readonly recorder: OutcomeRecorder,
    private readonly signal: EventSignal,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  onModuleInit(): void {
    this.due.watch({
      name: 'hooks_unsent',
      everyMs: UNSENT_POLL_MS,
      sql: ANY_UNSENT,
      onAnswer: ringing(this.firsts.wakeSignal),
    });
    this.due.watch({
      name: 'hooks_retry',
      everyMs: POLL_MS,
      sql: ANY_RETRY_DUE,
      onAnswer: ringing(this.retryWakeSignal),
    });
  }

  onApplicationBootstrap(): void {
    this.signal.onCommitted(() => {
      this.looks = RECHECKS;
      this.firsts.wakeSignal.notify();
    });
    this.owner.start({
      renamed: () => this.firsts.renewSoon(),
      lanesLeft: () => this.firsts.wakeSignal.notify(),
    });
    this.firstRounds = this.sendFirsts();
    this.claimsRetries = true;
    this.retryRounds = this.sendRetries().finally(() => {
      this.claimsRetries = false;
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    this.firsts.wakeSignal.notify();
    this.retryWakeSignal.notify();
    await this.firstRounds;
    this.firsts.finish();
    // Not after the last round of retries: others wait for these lanes.
    await this.idleWithin(STOP_MS);
    await this.retryRounds;
    this.firsts.stop();
    this.retries.stop();
    await this.idleWithin(WRITE_MS);
    this.recorder.giveUp();
    // Without a database the lanes free themselves.
    await this.firsts.leave().catch(() => undefined);
    await this.owner.stop();
  }

  private async idleWithin(limitMs: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < limitMs && !this.isIdle; waitedMs += RECHECK_MS) {
      // Others take what is not on its way at once.
      await this.firsts.leaveIdle().catch(() => undefined);
      await sleep(RECHECK_MS);
    }
  }

  /** The hook was deleted: what is still to be sent to it stays here. */
  forget(hookId: string): void {
    this.firsts.forget(hookId);
    this.retries.forget(hookId);
  }

  private get isIdle(): boolean {
    return this.firsts.isIdle && this.retries.isIdle && !this.claimsRetries;
  }

  private async sendFirsts(): Promise<void> {
    await this.inRounds(async () => {
      const isPoll = this.looks <= 0;
      const { foundAny, passedOver, freeInMs } = await this.firsts.round(isPoll);
      if (foundAny) this.looks = 0;
      const waits = [this.firsts.holdsLanes ? HOLDING_MS : IDLE_MS];
      if (this.looks-- > 0) waits.push(RECHECK_MS);
      if (passedOver) waits.push(LOCKED_MS);
      if (freeInMs !== null) waits.push(Math.max(freeInMs, 0) + RECHECK_MS);
      await this.firsts.wakeSignal.wait(Math.min(...waits));
      await sleep(GATHER_MS);
    });
  }

  /** Apart from the first attempts, which wait for nothing that retries wait for. */
  private async sendRetries(): Promise<void> {
    await this.inRounds(async () => {
      await this.retries.dropInactive();
      await this.retries.round();
      await this.retryWakeSignal.wait(this.retries.isIdle ? IDLE_MS : POLL_MS);
    });
  }

  /** Until the stop; a round that fails is followed by a pause. */
  private async inRounds(round: () => Promise<void>): Promise<void> {
    for (let failures = 0; !this.stopping.signal.aborted; ) {
      try {
        await round();
        failures = 0;
      } catch (error) {
        if (failures === 0) {
          this.logger.warn('webhooks cannot be sent; it goes on when the database answers', {
            error: String(error),
          });
        }
        await this.pause(Math.min(POLL_MS, FAILED_MS * 2 ** failures));
        failures = Math.min(failures + 1, 10);
      }
    }
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

/** Told whether anything is due, or nothing when that could not be asked. */
function ringing(wakeSignal: WakeSignal): (isAnyDue: unknown) => void {
  return (isAnyDue) => {
    if (isAnyDue !== false) wakeSignal.notify();
  };
}
