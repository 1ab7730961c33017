import {
  isLast,
  type LiveEvent,
  type LiveTurn,
  TURN_START,
  type TurnPosition,
  type TurnReader,
} from '../turns/turns.api.js';

/** Where a viewer's events go: an SSE answer or a WebSocket. */
export interface EventSink {
  readonly isFull: boolean;
  write(event: LiveEvent, turnId: string, position: TurnPosition): void;
}

/** One viewer's way through one turn, from a place on: as fast as its sink takes it. */
export class TurnFollower implements TurnReader {
  private index: number;
  private over = false;
  private readonly leave: () => void;

  constructor(
    private readonly turn: LiveTurn,
    private readonly sink: EventSink,
    private readonly onOver: () => void,
    private readonly from: TurnPosition = TURN_START,
  ) {
    this.index = turn.indexAfter(from);
    this.leave = turn.join(this);
  }

  get isFull(): boolean {
    return this.sink.isFull;
  }

  get isElsewhere(): boolean {
    return this.turn.isElsewhere;
  }

  /** Tells what there is to tell; to be called again when the sink has room. */
  wake(): void {
    while (!this.over && !this.sink.isFull && this.index < this.turn.length) {
      const { event, next, ...position } = this.turn.read(this.index);
      this.index = next;
      this.emit(event, position);
      if (isLast(event)) this.stop(true);
    }
    if (!this.over) this.turn.caughtUp();
  }

  /** Follows no longer. */
  stop(isOver = false): void {
    if (this.over) return;
    this.over = true;
    this.leave();
    if (isOver) this.onOver();
  }

  /** The record may be behind what the viewer has seen: then it gets there first. */
  private emit(event: LiveEvent, position: TurnPosition): void {
    if (event.type !== 'token') {
      const isSeen = position.steps <= this.from.steps && position.chars <= this.from.chars;
      if (!isSeen) this.sink.write(event, this.turn.turnId, position);
      return;
    }
    const begin = position.chars - event.text.length;
    const text = event.text.slice(Math.max(0, this.from.chars - begin));
    if (text !== '') this.sink.write({ type: 'token', text }, this.turn.turnId, position);
  }
}
