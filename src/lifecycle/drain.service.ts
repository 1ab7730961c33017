import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../config/settings.js';
import type { Logger } from '../logs/logger.js';
import type { ProfileListeners } from '../profiles/profile-listeners.js';
import type { RunningTurns } from '../sessions/running-turns.js';
import { TurnInterrupted } from '../sessions/sessions.errors.js';
import type { Readiness } from './readiness.js';

const IDLE_SWEEP_MS = 100;
const CLOSING_TURNS_MS = 5000;
/** For answers that are being written; whoever does not read his is not waited for. */
const LAST_ANSWERS_MS = 2000;

export interface Drained {
  readonly readiness: Readiness;
  readonly listeners: ProfileListeners;
  /** Answers that never end by themselves. */
  readonly streams: readonly { endAll(): void }[];
  readonly settings: Settings;
  readonly turns: RunningTurns;
  readonly logger: Logger;
  readonly closeApp: () => Promise<void>;
}

/**
 * The whole shutdown, in order: not ready, a grace in which balancers notice, streams told to come back, no new
 * connections, running turns and their answers to their end or to the limit, then everything else. The database is
 * closed by whoever opened it, last.
 */
export class DrainService {
  private stopping: Promise<void> | undefined;
  private readonly hurried = new AbortController();

  constructor(private readonly parts: Drained) {}

  stop(): Promise<void> {
    this.stopping ??= this.drain();
    return this.stopping;
  }

  hurry(): void {
    this.hurried.abort();
  }

  private async drain(): Promise<void> {
    const { readiness, listeners, streams, settings, turns, logger, closeApp } = this.parts;
    const { drain_grace_ms: graceMs, drain_timeout_ms: timeoutMs } = settings.current.gateway;
    readiness.drain();
    logger.info('the gateway is stopping', { running_turns: turns.count });
    await this.pause(graceMs);
    for (const stream of streams) stream.endAll();
    listeners.stopAccepting();
    const sweep = setInterval(() => listeners.closeIdle(), IDLE_SWEEP_MS);
    await Promise.race([this.allDone(), this.pause(timeoutMs)]);
    this.hurried.abort();
    if (turns.count > 0) await this.interruptTurns();
    await listeners.answered(AbortSignal.timeout(LAST_ANSWERS_MS));
    clearInterval(sweep);
    await listeners.close();
    await closeApp();
    logger.info('the gateway has stopped');
  }

  /** A message that waited behind a turn begins its own after it, so both are looked at until neither is left. */
  private async allDone(): Promise<void> {
    const { turns, listeners } = this.parts;
    do {
      await turns.allEnded();
      await listeners.answered(this.hurried.signal);
    } while (turns.count > 0 && !this.hurried.signal.aborted);
  }

  private async interruptTurns(): Promise<void> {
    const { turns, logger } = this.parts;
    logger.warn('turns are interrupted: the gateway stops', { running_turns: turns.count });
    turns.abortAll(new TurnInterrupted());
    await Promise.race([turns.allEnded(), sleep(CLOSING_TURNS_MS)]);
  }

  private async pause(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal: this.hurried.signal }).catch(() => undefined);
  }
}
