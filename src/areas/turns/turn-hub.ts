import { Injectable } from '@nestjs/common';
import { LiveTurn } from './live-turn.js';

/** Whoever wants to see every turn of a session that begins. */
export interface SessionWatcher {
  turnStarted(turn: LiveTurn): void;
}

/** Told of turns that left this replica and go on. */
export type ParkedListener = (turn: LiveTurn, attempt: number) => void;

/** The turns that can be followed in this process, one a session, and who waits for the next one. */
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

  /** It goes on later, on any replica; `attempt` is the one that was made here, from 1. */
  park(turn: LiveTurn, attempt: number): void {
    turn.leave();
    for (const listener of this.parkedListeners) listener(turn, attempt);
  }

  onPark(listener: ParkedListener): void {
    this.parkedListeners.push(listener);
  }

  /** It is over; whoever still reads it goes on to its end. */
  end(turn: LiveTurn): void {
    if (this.turns.get(turn.sessionId) === turn) this.turns.delete(turn.sessionId);
  }

  current(sessionId: string): LiveTurn | undefined {
    return this.turns.get(sessionId);
  }

  /** @returns what ends it */
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
