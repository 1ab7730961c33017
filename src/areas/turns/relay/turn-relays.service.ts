import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { withDeadline } from '../../../platform/runtime/with-deadline.js';
import type { LiveTurn } from '../live-turn.js';
import { RemoteTurnsStore } from './remote-turns.store.js';
import { TurnRelayed } from './turn-relayed.js';

const WRITE_MS = 100;
/** A turn has far fewer frames. */
const FRAMES_PER_ATTEMPT = 10_000_000;
/** A turn's end waits at most this long until its last frames are written. */
const LAST_WRITE_MS = 1000;

/** The number before the first frame of an attempt, from 2 on. */
export function lastFrameBefore(attempt: number): number {
  return attempt * FRAMES_PER_ATTEMPT;
}

/** Writes what the turns of this process say while somebody follows them on another replica. */
@Injectable()
export class TurnRelays implements OnModuleDestroy {
  private readonly logger: Logger;
  private readonly relayed = new Map<LiveTurn, TurnRelayed>();
  /** Turns that were taken up: who followed them before is not known here. */
  private readonly always = new WeakSet<LiveTurn>();
  private readonly poller: Poller;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: RemoteTurnsStore,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions::viewers');
    this.poller = new Poller({
      everyMs: WRITE_MS,
      look: () => this.write(),
      failed: (error) => this.notWritten(error),
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
  }

  /** Whether a turn that runs here has viewers elsewhere; it is written from its beginning. */
  setWatched(turn: LiveTurn | undefined, isWatched: boolean): void {
    if (turn === undefined || turn.isOver) return;
    const known = this.relayed.get(turn);
    if (known === undefined && !isWatched) return;
    const relayed = known ?? new TurnRelayed(turn);
    this.relayed.set(turn, relayed);
    relayed.setWanted(isWatched || this.always.has(turn));
    this.poller.start(WRITE_MS);
  }

  /** Writes all of a turn that was taken up (attempt from 2), whether or not anybody wants it. */
  relayAll(turn: LiveTurn, attempt: number): void {
    this.always.add(turn);
    this.relayed.set(turn, new TurnRelayed(turn, lastFrameBefore(attempt)));
    this.setWatched(turn, true);
  }

  /** Writes all that it has said, for viewers who come while it runs nowhere. */
  async leave(turn: LiveTurn): Promise<void> {
    this.setWatched(turn, true);
    await this.finish(turn);
  }

  /** Called before the end of a turn is stored: whoever sees the end elsewhere has then seen all of the turn. */
  async finish(turn: LiveTurn): Promise<void> {
    const relayed = this.relayed.get(turn);
    if (relayed === undefined) return;
    await withDeadline(this.write(), LAST_WRITE_MS, () => undefined);
    relayed.stop();
    this.relayed.delete(turn);
    if (this.relayed.size === 0) void this.poller.stop();
  }

  /** One write after the other, so that frames become visible in order. */
  private write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeNow());
    return this.writing;
  }

  private async writeNow(): Promise<void> {
    const relayed = [...this.relayed.values()];
    const frames = relayed.flatMap((one) => one.frames());
    if (frames.length === 0) return;
    try {
      await this.store.write(frames);
      for (const one of relayed) one.written(frames);
    } catch (error) {
      this.notWritten(error);
    }
  }

  private notWritten(error: unknown): void {
    this.logger.warn('turn output could not be relayed to other replicas; will retry', {
      turns: this.relayed.size,
      error: String(error),
    });
  }
}
