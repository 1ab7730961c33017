import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { EventSignal } from '../../platform/events/event.store.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { Poller } from '../../platform/runtime/poller.js';
import { FirstAttempts } from './first-attempts.js';
import { ANY_UNSENT } from './lane.store.js';
import { LaneOwner } from './lane-owner.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { Retries } from './retries.js';
import { ANY_RETRY_DUE } from './retry.store.js';

/** Wake signals are quick but may be missed. This poll, part of the statement that asks for all due work, is not. */
const UNSENT_POLL_MS = 400;
/** The poll for retries, and the longest pause after a failure. */
const POLL_MS = 1000;
/** The longest wait while lanes are held, because their leases have to be renewed. */
const HOLDING_MS = 500;
/** The longest wait without a lane: there is nothing to do until something is due. */
const IDLE_MS = 30_000;
/**
 * After a signal: how long to gather more events, and after what time and how often to look again, in case another replica
 * was just releasing the lane.
 */
const GATHER_MS = 2;
const RECHECK_MS = 25;
const RECHECKS = 2;
/** Each claim of retries looks at every webhook: those that catch up share it, and leave the database to others. */
const RETRY_GATHER_MS = 25;
/** When to look again at lanes that another statement had locked. */
const LOCKED_MS = 100;
/** The first pause after a failure of the database; it doubles up to `POLL_MS`. */
const FAILED_MS = 100;
/** At a stop: how long deliveries in flight may take to arrive, and then how long their outcomes may take to be stored. */
const STOP_MS = 2000;
const WRITE_MS = 500;

/** Sends what is in the outbox while the process runs. Every replica has one; each delivery is claimed by only one of them. */
@Injectable()
export class Deliverer implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  /** Milliseconds from the last pass of first attempts to the next. */
  private firstsMs = IDLE_MS;
  private readonly firstPasses = this.passes({
    pass: () => this.sendFirsts(),
    everyMs: () => this.firstsMs,
  });
  /** A loop of its own, so that first attempts never wait for retries. */
  private readonly retryPasses = this.passes({
    pass: () => this.sendRetries(),
    everyMs: () => (this.retries.isIdle ? IDLE_MS : POLL_MS),
  });
  private claimsRetries = false;
  private isStopping = false;
  /** Quick looks that are left after the last signal. */
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
    this.firsts.onMore(() => wake(this.firstPasses));
    this.retries.onMore(() => wake(this.retryPasses));
    this.due.watch({
      question: ANY_UNSENT,
      everyMs: UNSENT_POLL_MS,
      onAnswer: (any) => any !== false && wake(this.firstPasses),
    });
    this.due.watch({
      question: ANY_RETRY_DUE,
      everyMs: POLL_MS,
      onAnswer: (any) => any !== false && wake(this.retryPasses),
    });
  }

  onApplicationBootstrap(): void {
    this.signal.onCommitted(() => {
      this.looks = RECHECKS;
      wake(this.firstPasses);
    });
    this.owner.start({
      renamed: () => this.firsts.renewSoon(),
      lanesLeft: () => wake(this.firstPasses),
    });
    this.firstPasses.start();
    this.claimsRetries = true;
    this.retryPasses.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    const lastRetries = this.retryPasses.stop().then(() => {
      this.claimsRetries = false;
    });
    await this.firstPasses.stop();
    this.firsts.finish();
    // Before the last pass of retries has ended, because other replicas wait for these lanes.
    await this.idleWithin(STOP_MS);
    await lastRetries;
    this.firsts.stop();
    this.retries.stop();
    await this.idleWithin(WRITE_MS);
    this.recorder.giveUp();
    // Without a database their leases run out.
    await this.firsts.releaseAll().catch(() => undefined);
    await this.owner.stop();
  }

  private async idleWithin(limitMs: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < limitMs && !this.isIdle; waitedMs += RECHECK_MS) {
      // Other replicas can take these lanes at once.
      await this.firsts.releaseIdle().catch(() => undefined);
      await sleep(RECHECK_MS);
    }
  }

  /** The hook was deleted: nothing more is sent to it. */
  forget(hookId: string): void {
    this.firsts.forget(hookId);
    this.retries.forget(hookId);
  }

  private get isIdle(): boolean {
    return this.firsts.isIdle && this.retries.isIdle && !this.claimsRetries;
  }

  private async sendFirsts(): Promise<void> {
    await sleep(GATHER_MS);
    if (this.isStopping) return;
    const isPoll = this.looks <= 0;
    const { foundAny, passedOver, freeInMs } = await this.firsts.pass(isPoll);
    if (foundAny) this.looks = 0;
    const waits = [this.firsts.holdsLanes ? HOLDING_MS : IDLE_MS];
    if (this.looks-- > 0) waits.push(RECHECK_MS);
    if (passedOver) waits.push(LOCKED_MS);
    if (freeInMs !== null) waits.push(Math.max(freeInMs, 0) + RECHECK_MS);
    this.firstsMs = Math.min(...waits);
  }

  private async sendRetries(): Promise<void> {
    await sleep(RETRY_GATHER_MS);
    if (this.isStopping) return;
    await this.retries.dropInactive();
    await this.retries.pass();
  }

  private passes({ pass, everyMs }: { pass: () => Promise<void>; everyMs: () => number }): Poller {
    return new Poller({
      everyMs: (failures) =>
        failures === 0 ? everyMs() : Math.min(POLL_MS, FAILED_MS * 2 ** Math.min(failures - 1, 10)),
      look: pass,
      failed: (error) =>
        this.logger.warn('webhooks cannot be sent; sending resumes when the database answers', {
          error: String(error),
        }),
    });
  }
}

/** After a failure the next pass comes with its pause: what is sent and committed meanwhile would repeat it at once. */
function wake(passes: Poller): void {
  if (!passes.isFailing) passes.wake();
}
