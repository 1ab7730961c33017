import { isLast, type LiveEvent, type LiveTurn, type TurnReader } from '../live-turn.js';
import type { TurnFrame } from './remote-turns.store.js';

/** A row has about this many characters. */
const FRAME_CHARS = 65_536;
/** No more than this is written of one turn; viewers elsewhere get the rest from the history when it ends. */
const MAX_CHARS = 4_194_304;

/** Reads one turn on behalf of viewers on other replicas, and keeps what it has read until that is written. */
export class TurnRelayed implements TurnReader {
  /** Viewers elsewhere never make the turn wait: nobody here knows how far they have read. */
  readonly isFull = false;
  private index = 0;
  private n: number;
  private chars = 0;
  private unwritten: TurnFrame[] = [];
  private leave: (() => void) | undefined;

  /** @param firstFrame above the numbers of the frames that other replicas wrote of the turn */
  constructor(
    private readonly turn: LiveTurn,
    firstFrame = 0,
  ) {
    this.n = firstFrame;
  }

  wake(): void {
    // It is read when it is written, several events at once.
  }

  /** Whether anybody wants it at the moment. */
  setWanted(isWatched: boolean): void {
    if (isWatched) this.leave ??= this.turn.join(this);
    else this.stop();
  }

  stop(): void {
    this.leave?.();
    this.leave = undefined;
  }

  /** What is to be written now: nothing while nobody wants it. */
  frames(): readonly TurnFrame[] {
    if (this.leave === undefined) return [];
    for (let events = this.next(); events.length > 0; events = this.next()) {
      const text = writtenEvents(events);
      this.n += 1;
      this.chars += text.length;
      this.unwritten.push({ turnId: this.turn.turnId, n: this.n, events: text });
    }
    return [...this.unwritten];
  }

  written(frames: readonly TurnFrame[]): void {
    this.unwritten = this.unwritten.filter((frame) => !frames.includes(frame));
  }

  private next(): LiveEvent[] {
    const events: LiveEvent[] = [];
    for (let chars = 0; chars < FRAME_CHARS && this.chars < MAX_CHARS; ) {
      if (this.index >= this.turn.length) break;
      const { event, next } = this.turn.read(this.index);
      if (isLast(event)) break;
      this.index = next;
      events.push(event);
      chars += event.type === 'token' ? event.text.length : JSON.stringify(event).length;
    }
    return events;
  }
}

/** Events as they are written for other replicas: all except a turn's end, which is in the history. */
function writtenEvents(events: readonly LiveEvent[]): string {
  return JSON.stringify(events);
}

export function readEvents(text: string): LiveEvent[] {
  return (JSON.parse(text) as LiveEvent[]).map((event) => {
    if (event.type === 'tool_approval')
      return { ...event, approval: { ...event.approval, expiresAt: new Date(event.approval.expiresAt) } };
    if (event.type === 'tool_question')
      return { ...event, question: { ...event.question, expiresAt: new Date(event.question.expiresAt) } };
    return event;
  });
}
