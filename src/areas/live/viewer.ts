import { EventStream } from '../../platform/runtime/event-stream.js';
import {
  isLast,
  type LiveEvent,
  type LiveTurn,
  type SessionWatcher,
  TURN_START,
  type TurnPosition,
  type TurnReader,
} from '../turns/turns.api.js';

/** A viewer that falls this many turns behind is cut. */
const MAX_TURNS_BEHIND = 32;

/** One connection that is shown turns, one after the other. Its subclasses know the transport. */
export abstract class Viewer extends EventStream implements EventSink, SessionWatcher {
  private readonly ahead: { readonly turn: LiveTurn; readonly from: TurnPosition | undefined }[] = [];
  private follower: TurnFollower | undefined;
  private farewellMs: number | undefined;

  /** Whether it cannot take more at the moment; `room` is called when it can again. */
  abstract readonly isFull: boolean;
  abstract write(event: LiveEvent, turnId: string, position: TurnPosition): void;
  /** Ends the connection with a hint to come back after this many milliseconds. */
  protected abstract sendClose(retryMs: number): void;
  /** Called when there is nothing left to show. */
  protected abstract turnIsOver(): void;

  turnStarted(turn: LiveTurn): void {
    this.follow(turn);
  }

  /** Shows a turn once those before it are over. */
  follow(turn: LiveTurn, from?: TurnPosition): void {
    if (!this.isOpen || this.farewellMs !== undefined) return;
    if (this.ahead.length >= MAX_TURNS_BEHIND) {
      this.cut('stalled');
      return;
    }
    this.ahead.push({ turn, from });
    this.next();
  }

  /** Ends the connection because the gateway stops: at once or, if it follows a turn that runs here, after that turn. */
  close(retryMs: number): void {
    if (!this.isOpen) return;
    this.farewellMs = retryMs;
    if (this.follower === undefined || this.follower.isElsewhere) this.sendClose(retryMs);
  }

  override end(): void {
    this.ahead.length = 0;
    this.follower?.stop();
    this.follower = undefined;
    super.end();
  }

  protected room(): void {
    this.follower?.wake();
  }

  private next(): void {
    if (this.follower !== undefined) return;
    const coming = this.ahead.shift();
    if (coming === undefined) return;
    this.follower = new TurnFollower(coming.turn, this, () => this.over(), coming.from);
    this.follower.wake();
  }

  private over(): void {
    this.follower = undefined;
    if (this.farewellMs !== undefined) this.sendClose(this.farewellMs);
    else if (this.ahead.length > 0) this.next();
    else this.turnIsOver();
  }
}

/** Where a viewer's events go: an SSE response or a WebSocket. */
export interface EventSink {
  readonly isFull: boolean;
  write(event: LiveEvent, turnId: string, position: TurnPosition): void;
}

/** Leads one viewer through one turn, from a position on, as fast as its sink takes the events. */
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

  /** Writes what there is to write; to be called again when the sink has room. */
  wake(): void {
    while (!this.over && !this.sink.isFull && this.index < this.turn.length) {
      const { event, next, ...position } = this.turn.read(this.index);
      this.index = next;
      this.emit(event, position);
      if (isLast(event)) this.stop(true);
    }
    if (!this.over) this.turn.caughtUp();
  }

  /** Stops following. */
  stop(isOver = false): void {
    if (this.over) return;
    this.over = true;
    this.leave();
    if (isOver) this.onOver();
  }

  /** The record may be behind what the viewer has seen; nothing is written until it has caught up. */
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
