import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { type Logger, Logs } from '../logs/logger.js';
import { RemoteTurnsStore } from './live/remote/remote-turns.store.js';
import { SessionStore } from './session.store.js';
import { silenceLimits } from './silence-limits.js';
import { TurnEndingsStore } from './turn-endings.store.js';

const SWEEP_MS = 1000;
const MOST_AT_ONCE = 1000;
const LONGEST_TALLY = 256;
const FORGET_MS = 3_600_000;
const FORGET_FRAMES_MS = 10_000;

/**
 * Writes down what time has done: silent sessions become idle and end, turns of a lost replica are closed, the tally is
 * folded. Every read is right without it; it keeps the reads cheap. Any number of replicas may sweep.
 */
@Injectable()
export class SessionSweeper implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private failing = false;
  private forgotAt = Number.NEGATIVE_INFINITY;
  private forgotFramesAt = Number.NEGATIVE_INFINITY;
  private stopped = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly turns: TurnEndingsStore,
    private readonly remote: RemoteTurnsStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions::sweeper');
  }

  onApplicationBootstrap(): void {
    this.schedule(0);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private schedule(inMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep().then((more) => this.schedule(more ? 0 : SWEEP_MS));
    }, inMs).unref();
  }

  /** @returns whether there is more to do right away */
  private async sweep(): Promise<boolean> {
    try {
      for (const { session_id } of await this.turns.recover()) {
        this.logger.warn('a turn was interrupted: its replica is gone', { session_id });
      }
      const changed = await this.sessions.recordSilence(
        silenceLimits(this.settings.current.agent),
        MOST_AT_ONCE,
      );
      await this.sessions.foldTally(LONGEST_TALLY);
      await this.forgetFrames();
      await this.forgetSpending();
      this.failing = false;
      return changed === MOST_AT_ONCE;
    } catch (error) {
      if (!this.failing)
        this.logger.warn('sessions could not be swept; it goes on when the database answers', {
          error: String(error),
        });
      this.failing = true;
      return false;
    }
  }

  private async forgetFrames(): Promise<void> {
    if (performance.now() - this.forgotFramesAt < FORGET_FRAMES_MS) return;
    await this.remote.forget();
    this.forgotFramesAt = performance.now();
  }

  private async forgetSpending(): Promise<void> {
    if (performance.now() - this.forgotAt < FORGET_MS) return;
    await this.turns.forgetSpending();
    this.forgotAt = performance.now();
  }
}
