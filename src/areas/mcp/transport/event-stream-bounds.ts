import type { Transformer } from 'node:stream/web';
import { BoundedMessage, type OnRefused, refusal } from './bounded-message.js';

type Id = string | number;
type Controller = TransformStreamDefaultController<Uint8Array>;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** So much of one event is passed over before its writer counts as one that never ends it. */
const MAX_PASSED_OVER = 64 * 1_048_576;

/**
 * An event stream whose events are messages within the bounds: each is sent on when it is whole. One past the bounds is
 * passed over to its end; when it is an answer, an error takes its place.
 */
export class EventStreamBounds implements Transformer<Uint8Array, Uint8Array> {
  private readonly event = new BoundedMessage();
  private lineLength = 0;
  private last = 0;
  private isAnswered = false;

  /** `id` of the call that the stream answers; undefined for a stream that answers many, or none. */
  constructor(
    private readonly id: Id | undefined,
    private readonly onRefused: OnRefused,
  ) {}

  transform(chunk: Uint8Array, controller: Controller): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (!this.endsEvent(chunk[at] ?? 0)) continue;
      this.event.push(chunk.subarray(start, at + 1));
      this.finish(controller);
      start = at + 1;
    }
    this.event.push(chunk.subarray(start));
    const { size, isTooLong, isCall } = this.event;
    if (isTooLong && !isCall && !this.isAnswered && this.id !== undefined) {
      this.isAnswered = true;
      this.refuse(this.id, String(this.event.refusedFor), controller);
    }
    if (size > MAX_PASSED_OVER) throw new Error('The tool server sent an event without end.');
  }

  flush(controller: Controller): void {
    this.finish(controller);
  }

  private endsEvent(byte: number): boolean {
    const isBreak = byte === LINE_FEED || byte === CARRIAGE_RETURN;
    // A line feed right behind a carriage return belongs to it.
    const ends = isBreak && this.lineLength === 0 && !(byte === LINE_FEED && this.last === CARRIAGE_RETURN);
    this.lineLength = isBreak ? 0 : this.lineLength + 1;
    this.last = byte;
    return ends;
  }

  private finish(controller: Controller): void {
    const { isCall } = this.event;
    const whole = this.event.end();
    const wasAnswered = this.isAnswered;
    this.isAnswered = false;
    if (Buffer.isBuffer(whole)) {
      if (whole.length > 0) controller.enqueue(whole);
    } else if (!wasAnswered)
      this.refuse(isCall ? undefined : (whole.id ?? this.id), whole.reason, controller);
  }

  private refuse(id: Id | undefined, reason: string, controller: Controller): void {
    this.onRefused(reason);
    if (id === undefined) return;
    controller.enqueue(Buffer.from(`event: message\ndata: ${JSON.stringify(refusal(id, reason))}\n\n`));
  }
}
