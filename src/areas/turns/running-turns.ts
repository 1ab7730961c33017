import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';
import { TurnHandedOver, TurnInterrupted } from './turns.errors.js';

interface RunningTurn {
  readonly fence: number;
  readonly owners: readonly string[];
  readonly startedAt: number;
  readonly abort: AbortController;
  /** Whether it has no row, and so no lease: no other replica can continue it. */
  readonly isUnstored: boolean;
}

/** The turns that this process runs, one for each session: they can be aborted here, and their leases are renewed. */
@Injectable()
export class RunningTurns {
  private readonly turns = new Map<string, RunningTurn>();
  private readonly onEnded = new Map<string, Set<() => void>>();
  private isHandingOver = false;
  /** Set when all were ended: whatever begins later ends at once. */
  private whyEnded: ((isUnstored: boolean) => Error) | undefined;
  private readonly onHandOver = new Set<() => void>();
  private readonly onAllEnded: (() => void)[] = [];
  private readonly endListeners: (() => void)[] = [];

  /**
   * If an earlier turn is still here when the next one of its session begins, it has lost its lease meanwhile, and is
   * ended.
   * @param owners whose turn it is: those of `ownersOf`
   * @param isUnstored for a turn without a session, which has an id of its own instead
   * @returns the signal that ends the turn early; its reason says why
   */
  add(sessionId: string, fence: number, owners: readonly string[], isUnstored = false): AbortController {
    this.turns.get(sessionId)?.abort.abort(new TurnInterrupted());
    const abort = new AbortController();
    // Every running tool call listens and stops listening when it is done: many listeners are no leak.
    setMaxListeners(0, abort.signal);
    this.turns.set(sessionId, { fence, owners, startedAt: performance.now(), abort, isUnstored });
    if (this.whyEnded !== undefined) abort.abort(this.whyEnded(isUnstored));
    return abort;
  }

  /** The turn is over; a turn that followed it stays. */
  remove(sessionId: string, fence: number): void {
    if (this.turns.get(sessionId)?.fence === fence) this.turns.delete(sessionId);
    for (const wake of this.onEnded.get(sessionId) ?? []) wake();
    for (const listener of this.endListeners) listener();
    if (this.turns.size === 0) for (const wake of this.onAllEnded.splice(0)) wake();
  }

  /**
   * False when no turn of this session runs here, or when it is ending already: it may be released, and then continues
   * elsewhere.
   */
  abort(sessionId: string, reason: Error): boolean {
    const turn = this.turns.get(sessionId);
    if (turn === undefined || turn.abort.signal.aborted) return false;
    turn.abort.abort(reason);
    return true;
  }

  /** Ends only this turn, not one that followed it meanwhile. */
  abortTurn(sessionId: string, fence: number | undefined, reason: Error): void {
    const turn = this.turns.get(sessionId);
    if (turn?.fence === fence) turn?.abort.abort(reason);
  }

  /** Every turn is handed over to another replica: at its next step, or now if `atOnce`. */
  handOver(atOnce: boolean): void {
    this.isHandingOver = true;
    for (const listener of this.onHandOver) listener();
    if (atOnce) this.endAll((isUnstored) => (isUnstored ? new TurnInterrupted() : new TurnHandedOver()));
  }

  get isStopping(): boolean {
    return this.isHandingOver;
  }

  /** @returns a function that removes the listener */
  whenHandingOver(listener: () => void): () => void {
    this.onHandOver.add(listener);
    return () => void this.onHandOver.delete(listener);
  }

  /** Called between two steps of a turn, when everything that it did is stored. */
  letGo(sessionId: string): void {
    if (this.isHandingOver && this.turns.get(sessionId)?.isUnstored === false)
      this.abort(sessionId, new TurnHandedOver());
  }

  /** Also those that have yet to begin. */
  endAll(whyEnded: (isUnstored: boolean) => Error): void {
    this.whyEnded = whyEnded;
    for (const { abort, isUnstored } of this.turns.values()) abort.abort(whyEnded(isUnstored));
  }

  /** Called whenever a turn has ended here, for as long as the process runs. */
  onEnd(listener: () => void): void {
    this.endListeners.push(listener);
  }

  get count(): number {
    return this.turns.size;
  }

  /** Turns without a session that run here for this token or identity: they have no row. */
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
