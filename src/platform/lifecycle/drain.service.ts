import { setTimeout as sleep } from 'node:timers/promises';
import { stackOf } from '../../common/errors/error-text.js';
import type { Logger } from '../logging/logger.js';
import { Poller } from '../runtime/poller.js';
import { withDeadline } from '../runtime/with-deadline.js';
import type { Settings } from '../settings/settings.js';
import type { EndingParts } from './ending-parts.js';
import type { Readiness } from './readiness.js';

const IDLE_SWEEP_MS = 100;
/**
 * Before the port closes, connections are kept alive again: a connection that is opened at that moment would be reset
 * (docs/decisions/0802-a-stop-drains-slowly-for-balancers-and-quickly-for-people.md).
 */
const CALM_MS = 300;
/**
 * The time in which connections that were just accepted send their request, and balancers use up those that they kept.
 */
const SETTLING_MS = 500;
const CLOSING_TURNS_MS = 5000;
/** For answers that are being written; a client that does not read its answer is not waited for. */
const LAST_ANSWERS_MS = 2000;
/** For channels, tool servers, plugins and deliveries. */
const ENDING_MS = 15_000;
const MAX_LOGGED = 20;

export interface StopOptions {
  /** Whether to wait for `gateway.drain_grace_ms`. Default: true. */
  readonly withGrace?: boolean;
}

/** The ports that accept connections. */
export interface DrainedListeners {
  /** Whether an answer closes its connection. */
  endsConnections: boolean;
  /** The routes of the requests that have not been answered yet. */
  readonly unansweredRoutes: readonly string[];
  stopAccepting(): Promise<void>;
  closeIdle(): void;
  /** Resolves when nothing is being answered, or when the signal is aborted. */
  answered(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Work that a stop waits for. What takes longer than the limit is left to another replica, or interrupted. */
export interface DrainedTurns {
  readonly count: number;
  allEnded(): Promise<void>;
  /** From now on turns are left to another replica between two steps. */
  handOverAtStep(): void;
  /** Interrupts at once what runs, and what begins later. */
  endAll(): void;
}

/** What is drained, in the order in which `DrainService` does it. */
export interface Drained {
  readonly readiness: Readiness;
  readonly listeners: DrainedListeners;
  /** Streams, which never end by themselves, and answers that take longer than a stop. */
  readonly streams: readonly { endAll(): void }[];
  readonly settings: Settings;
  readonly turns: DrainedTurns;
  readonly logger: Logger;
  readonly closeApp: () => Promise<void>;
  readonly ending: EndingParts;
}

/**
 * The whole shutdown, in order: not ready; a grace in which everything is still answered, so that balancers notice; no
 * new connections; streams are told to reconnect; running turns and their answers end, or reach the limit; then
 * everything else. The database is closed last, by the code that opened it.
 */
export class DrainService {
  private stopping: Promise<void> | undefined;
  private readonly hurried = new AbortController();

  constructor(private readonly parts: Drained) {}

  /** Runs once; later calls wait for the first. Throws when an area did not end in time. */
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
    // Turns that do not end soon continue on another replica with their next step.
    void this.pause(timeoutMs / 2).then(() => turns.handOverAtStep());
    await Promise.race([this.allDone(), this.pause(timeoutMs)]);
    this.hurried.abort();
    if (turns.count > 0) await this.endTurns();
    await listeners.answered(AbortSignal.timeout(LAST_ANSWERS_MS));
    await sweep.stop();
    this.logUnanswered();
    await listeners.close();
    // For turns that begin even now: their tools end at once.
    turns.endAll();
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

  /** An area that never ends must not keep the log from being stored, or the database from being closed. */
  private async endAreas(): Promise<void> {
    const { closeApp, ending } = this.parts;
    await withDeadline(closeApp(), ENDING_MS, () => {
      throw new Error(
        `Not every part of the gateway has ended within ${ENDING_MS / 1000} s. ${ending.toString()}.`,
      );
    });
  }

  /**
   * A message that waited behind a turn begins a turn of its own afterwards, so both are checked until there is
   * neither.
   */
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
    await withDeadline(turns.allEnded(), CLOSING_TURNS_MS, () => undefined);
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.hurried.signal }).catch(() => undefined);
  }
}
