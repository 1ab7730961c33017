import { setTimeout as sleep } from 'node:timers/promises';
import { stackOf } from '../../common/errors/error-text.js';
import type { Logger } from '../logging/logger.js';
import { Poller } from '../runtime/poller.js';
import { withDeadline } from '../runtime/with-deadline.js';
import type { Settings } from '../settings/settings.js';
import type { Readiness } from './readiness.js';

const IDLE_SWEEP_MS = 100;
/**
 * Before the port closes, connections are kept open again: one that is opened at that moment would be reset
 * (docs/decisions/0802-a-stop-drains-slowly-for-balancers-and-quickly-for-people.md).
 */
const CALM_MS = 300;
/** Connections that were just accepted send their request, and balancers use up those that they kept. */
const SETTLING_MS = 500;
const CLOSING_TURNS_MS = 5000;
/** For answers that are being written; a client that does not read its answer is not waited for. */
const LAST_ANSWERS_MS = 2000;
/** For channels, tool servers, plugins and deliveries. */
const ENDING_MS = 15_000;
const MAX_LOGGED = 20;

export interface StopOptions {
  /** Whether `gateway.drain_grace_ms` is waited for. Default: true. */
  readonly withGrace?: boolean;
}

/** The ports that take connections. */
export interface DrainedListeners {
  /** Whether an answer closes its connection. */
  endsConnections: boolean;
  /** The routes of the requests that have no answer yet. */
  readonly unansweredRoutes: readonly string[];
  stopAccepting(): Promise<void>;
  closeIdle(): void;
  /** Resolves when nothing is being answered, or when the signal is aborted. */
  answered(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The work that is waited for, and left to another replica, or interrupted, when it takes longer than the limit. */
export interface DrainedTurns {
  readonly count: number;
  allEnded(): Promise<void>;
  /** From now on they are left to another replica between two steps. */
  handOverAtStep(): void;
  /** Now. */
  endAll(): void;
}

/** What is drained; the order is that of `DrainService`. */
export interface Drained {
  readonly readiness: Readiness;
  readonly listeners: DrainedListeners;
  /** Answers that never end by themselves. */
  readonly streams: readonly { endAll(): void }[];
  readonly settings: Settings;
  readonly turns: DrainedTurns;
  readonly logger: Logger;
  readonly closeApp: () => Promise<void>;
}

/**
 * The whole shutdown, in order: not ready, a grace in which everything is still answered and balancers notice, no new
 * connections, streams told to come back, running turns and their answers to their end or to the limit, then everything
 * else. The database is closed last, by the code that opened it.
 */
export class DrainService {
  private stopping: Promise<void> | undefined;
  private readonly hurried = new AbortController();

  constructor(private readonly parts: Drained) {}

  /** Once; later calls wait for the first. Throws when an area did not end in time. */
  stop({ withGrace = true }: StopOptions = {}): Promise<void> {
    this.stopping ??= this.drain(withGrace);
    return this.stopping;
  }

  hurry(): void {
    this.hurried.abort();
  }

  private async drain(withGrace: boolean): Promise<void> {
    const { readiness, listeners, streams, settings, turns, logger } = this.parts;
    const { drain_grace_ms: graceMs, drain_timeout_ms: timeoutMs } = settings.current.gateway;
    readiness.drain();
    logger.info('the gateway is stopping', { running_turns: turns.count });
    const isGraceful = withGrace && graceMs > 0;
    listeners.endsConnections = true;
    if (isGraceful) await this.grace(graceMs);
    await listeners.stopAccepting();
    listeners.endsConnections = true;
    if (isGraceful) await this.pause(SETTLING_MS);
    for (const stream of streams) stream.endAll();
    const sweep = new Poller({
      everyMs: IDLE_SWEEP_MS,
      look: () => listeners.closeIdle(),
      failed: (error) => logger.error('idle connections could not be closed', { error: stackOf(error) }),
    });
    sweep.start();
    // Turns that are not near their end go on elsewhere from their next step.
    void this.pause(timeoutMs / 2).then(() => turns.handOverAtStep());
    await Promise.race([this.allDone(), this.pause(timeoutMs)]);
    this.hurried.abort();
    if (turns.count > 0) await this.endTurns();
    await listeners.answered(AbortSignal.timeout(LAST_ANSWERS_MS));
    await sweep.stop();
    this.logUnanswered();
    await listeners.close();
    await this.endAreas();
    logger.info('the gateway has stopped');
  }

  private async grace(graceMs: number): Promise<void> {
    await this.pause(Math.max(0, graceMs - CALM_MS));
    this.parts.listeners.endsConnections = false;
    await this.pause(Math.min(graceMs, CALM_MS));
  }

  private logUnanswered(): void {
    const { listeners, logger } = this.parts;
    const requests = listeners.unansweredRoutes;
    if (requests.length === 0) return;
    logger.warn('requests are cut off: the gateway stops', {
      requests: requests.length,
      routes: [...new Set(requests)].slice(0, MAX_LOGGED),
    });
  }

  /** An area that never ends must not keep the log from being stored and the database from being closed. */
  private async endAreas(): Promise<void> {
    await withDeadline(this.parts.closeApp(), ENDING_MS, () => {
      throw new Error(`Not every part of the gateway has ended within ${ENDING_MS / 1000} s.`);
    });
  }

  /** A message that waited behind a turn begins its own turn afterwards, so both are checked until neither is left. */
  private async allDone(): Promise<void> {
    const { turns, listeners } = this.parts;
    do {
      await turns.allEnded();
      await listeners.answered(this.hurried.signal);
    } while (turns.count > 0 && !this.hurried.signal.aborted);
  }

  private async endTurns(): Promise<void> {
    const { turns, logger } = this.parts;
    logger.warn('turns are handed over or interrupted: the gateway stops', { running_turns: turns.count });
    turns.endAll();
    await Promise.race([turns.allEnded(), sleep(CLOSING_TURNS_MS, undefined, { ref: false })]);
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.hurried.signal }).catch(() => undefined);
  }
}
