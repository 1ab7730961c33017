import type { LiveTurn, SessionWatcher } from '../../turns/turns.api.js';
import type { MirroredTurn } from './mirrored-turn.js';

/** One session that has viewers here: its turns in their order, whoever runs them. */
export class SessionFeed {
  /** Where the message of the last known turn stands in the history. */
  position = 0;
  /** Resolves when it is known what runs; rejects when that could not be learned. */
  ready: Promise<void> = Promise.resolve();
  /** Turns that other replicas run. */
  readonly mirrors = new Map<string, MirroredTurn>();
  /** How many watch it, or are about to. */
  users = 0;
  private running: LiveTurn[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private readonly watchers = new Set<SessionWatcher>();

  constructor(
    readonly sessionId: string,
    readonly stop: () => void,
  ) {}

  /** One thing after the other. */
  inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  add(watcher: SessionWatcher): void {
    this.watchers.add(watcher);
    for (const turn of this.running) if (!turn.isOver) watcher.turnStarted(turn);
  }

  remove(watcher: SessionWatcher): void {
    this.watchers.delete(watcher);
  }

  publish(turn: LiveTurn): void {
    this.running = [...this.running.filter(({ isOver }) => !isOver), turn];
    for (const watcher of [...this.watchers]) watcher.turnStarted(turn);
  }
}
