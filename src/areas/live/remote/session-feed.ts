import { storableText } from '../../../platform/database/storable-text.js';
import {
  LiveTurn,
  readEvents,
  type SessionWatcher,
  TurnInterrupted,
  TurnNotRepeated,
} from '../../turns/turns.api.js';
import type { TurnRecord } from '../turn-records.store.js';

/** A turn that another replica runs, repeated here as that replica writes it. */
export class MirroredTurn {
  /** @param n the number of the last frame that was read */
  constructor(
    sessionId: string,
    readonly turnId: string,
    readonly live = new LiveTurn(sessionId, turnId, undefined, true),
    public n = 0,
  ) {}

  apply(n: number, events: string): void {
    this.n = n;
    for (const event of readEvents(events)) void this.live.publish(event);
  }

  /** Ends the turn: what no frame held, and how the turn ended, comes from the history. */
  finish(record: TurnRecord | undefined): void {
    const { answer: said, error } = record ?? {};
    const streamed = storableText(this.live.text());
    const rest = said?.content.startsWith(streamed) ? said.content.slice(streamed.length) : '';
    if (rest !== '') void this.live.publish({ type: 'token', text: rest });
    if (error === undefined && said !== undefined) void this.live.publish({ type: 'done', message: said });
    else void this.live.publish({ type: 'error', error: shown(error) });
  }
}

function shown(error: TurnRecord['error']) {
  return error === undefined || error instanceof TurnNotRepeated ? new TurnInterrupted() : error;
}

/** One session that has viewers here: its turns in order, whichever replica runs them. */
export class SessionFeed {
  /** The place in the history of the last known turn's message. */
  position = 0;
  /** Resolves when it is known which turn runs; rejects when the database cannot say. */
  ready: Promise<void> = Promise.resolve();
  /** Turns that other replicas run. */
  readonly mirrors = new Map<string, MirroredTurn>();
  /** The number of watchers, including those that are about to be added. */
  users = 0;
  private running: LiveTurn[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private readonly watchers = new Set<SessionWatcher>();

  constructor(
    readonly sessionId: string,
    readonly stop: () => void,
  ) {}

  /** Runs the work after all work that was given before. */
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
