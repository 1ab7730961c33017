import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';
import { TurnHandedOver, TurnInterrupted } from './turns.errors.js';

interface RunningTurn {
  readonly fence: number;
  readonly owners: readonly string[];
  readonly startedAt: number;
  readonly abort: AbortController;
  /** Whether it has no row, and so no lease: no other replica can go on with it. */
  readonly isUnstored: boolean;
}

/** The turns that this process runs, one a session: what can be aborted, and what has to be renewed. */
@Injectable()
export class RunningTurns {
  private readonly turns = new Map<string, RunningTurn>();
  private readonly onEnded = new Map<string, Set<() => void>>();
  private isHandingOver = false;
  private readonly onHandOver = new Set<() => void>();
  private readonly onAllEnded: (() => void)[] = [];
  private readonly endListeners: (() => void)[] = [];

  /**
   * A turn that is still here when the next one of its session begins has lost its lease meanwhile: it is ended.
   * @param owners whose turn it is: those of `ownersOf`
   * @param isUnstored for a turn without a session, which has an id of its own instead
   * @returns the signal that ends the turn early; its reason says why
   */
  add(sessionId: string, fence: number, owners: readonly string[], isUnstored = false): AbortController {
    this.turns.get(sessionId)?.abort.abort(new TurnInterrupted());
    const abort = new AbortController();
    // Every tool call that runs listens, and leaves when it is done: many are no leak.
    setMaxListeners(0, abort.signal);
    this.turns.set(sessionId, { fence, owners, startedAt: performance.now(), abort, isUnstored });
    return abort;
  }

  /** It is over; the one that may have followed it stays. */
  remove(sessionId: string, fence: number): void {
    if (this.turns.get(sessionId)?.fence === fence) this.turns.delete(sessionId);
    for (const wake of this.onEnded.get(sessionId) ?? []) wake();
    for (const listener of this.endListeners) listener();
    if (this.turns.size === 0) for (const wake of this.onAllEnded.splice(0)) wake();
  }

  /** False when no turn of this session runs here, or one that ends already: it may be let go of, and then goes on elsewhere. */
  abort(sessionId: string, reason: Error): boolean {
    const turn = this.turns.get(sessionId);
    if (turn === undefined || turn.abort.signal.aborted) return false;
    turn.abort.abort(reason);
    return true;
  }

  /** Ends this very turn; the one that may have followed it meanwhile goes on. */
  abortTurn(sessionId: string, fence: number | undefined, reason: Error): void {
    const turn = this.turns.get(sessionId);
    if (turn?.fence === fence) turn?.abort.abort(reason);
  }

  /** Every turn is handed over to another replica: at its next step, or now if `atOnce`. */
  handOver(atOnce: boolean): void {
    this.isHandingOver = true;
    for (const listener of this.onHandOver) listener();
    if (!atOnce) return;
    for (const { abort, isUnstored } of this.turns.values())
      abort.abort(isUnstored ? new TurnInterrupted() : new TurnHandedOver());
  }

  get isStopping(): boolean {
    return this.isHandingOver;
  }

  /** @returns what takes the listener out again */
  whenHandingOver(listener: () => void): () => void {
    this.onHandOver.add(listener);
    return () => void this.onHandOver.delete(listener);
  }

  /** Called between two steps of a turn, when everything that it did is stored. */
  letGo(sessionId: string): void {
    if (this.isHandingOver && this.turns.get(sessionId)?.isUnstored === false)
      this.abort(sessionId, new TurnHandedOver());
  }

  abortAll(reason: Error): void {
    for (const { abort } of this.turns.values()) abort.abort(reason);
  }

  /** Told whenever a turn has ended here, for as long as the process runs. */
  onEnd(listener: () => void): void {
    this.endListeners.push(listener);
  }

  get count(): number {
    return this.turns.size;
  }

  /** Turns without a session that run here for this token or identity: no row tells of them. */
  unstoredOf(owner: string): number {
    let count = 0;
    for (const { owners, isUnstored } of this.turns.values())
      if (isUnstored && owners.includes(owner)) count += 1;
    return count;
  }

  /** Sessions whose turn has run for at least so long, with the fence of each. */
  olderThan(ms: number): Map<string, number> {
    const before = performance.now() - ms;
    const old = [...this.turns].filter(([, turn]) => turn.startedAt <= before && !turn.isUnstored);
    return new Map(old.map(([sessionId, { fence }]) => [sessionId, fence]));
  }

  /** Whose turns have run for at least so long. */
  ownersAfter(ms: number): string[] {
    const before = performance.now() - ms;
    const old = [...this.turns.values()].filter(({ startedAt }) => startedAt <= before);
    return [...new Set(old.flatMap(({ owners }) => owners))];
  }

  /** Ends the turns of these tokens and identities. */
  abortOf(ended: ReadonlySet<string>, reason: Error): void {
    for (const { owners, abort } of this.turns.values()) {
      if (owners.some((owner) => ended.has(owner))) abort.abort(reason);
    }
  }

  /** Resolves when a turn of this session ends here, after `timeoutMs`, or when the signal is aborted. */
  nextEnd(sessionId: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.onEnded.get(sessionId) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        if (waiters.size === 0) this.onEnded.delete(sessionId);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      waiters.add(wake);
      this.onEnded.set(sessionId, waiters);
    });
  }

  /** Resolves when nothing runs here any more, at once if so already. */
  allEnded(): Promise<void> {
    if (this.turns.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.onAllEnded.push(resolve));
  }
}
