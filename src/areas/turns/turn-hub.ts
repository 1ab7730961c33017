import { Injectable } from '@nestjs/common';
import { LiveTurn } from './live-turn.js';

/** Called for every turn of a session that begins. */
export interface SessionWatcher {
  turnStarted(turn: LiveTurn): void;
}

/** Called for turns that leave this replica and continue elsewhere. */
export type ParkedListener = (turn: LiveTurn, attempt: number) => void;

/**
 * The turns that can be followed in this process, one for each session, and the listeners that wait for the next one.
 */
@Injectable()
export class TurnHub {
  private readonly turns = new Map<string, LiveTurn>();
  private readonly watchers = new Map<string, Set<SessionWatcher>>();
  private readonly parkedListeners: ParkedListener[] = [];

  /** A turn begins here. */
  start(sessionId: string, turnId: string, signal?: AbortSignal): LiveTurn {
    const turn = new LiveTurn(sessionId, turnId, signal);
    this.turns.set(sessionId, turn);
    for (const watcher of this.watchers.get(sessionId) ?? []) watcher.turnStarted(turn);
    return turn;
  }

  /** It continues later, on any replica; `attempt` is the one that was made here, from 1. */
  park(turn: LiveTurn, attempt: number): void {
    turn.leave();
    for (const listener of this.parkedListeners) listener(turn, attempt);
  }

  onPark(listener: ParkedListener): void {
    this.parkedListeners.push(listener);
  }

  /** It is over; readers still read to its end. */
  end(turn: LiveTurn): void {
    if (this.turns.get(turn.sessionId) === turn) this.turns.delete(turn.sessionId);
  }

  current(sessionId: string): LiveTurn | undefined {
    return this.turns.get(sessionId);
  }

  /** @returns a function that ends it */
  watch(sessionId: string, watcher: SessionWatcher): () => void {
    const watchers = this.watchers.get(sessionId) ?? new Set();
    watchers.add(watcher);
    this.watchers.set(sessionId, watchers);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.watchers.get(sessionId) === watchers) this.watchers.delete(sessionId);
    };
  }
}
