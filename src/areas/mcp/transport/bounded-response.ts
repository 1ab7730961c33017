import type { Transformer } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BoundedMessage,
  MAX_MESSAGE_BYTES,
  MAX_SKIPPED_BYTES,
  MessageScan,
  type OnRefused,
  refusal,
} from './bounded-message.js';

type Id = string | number;
type Controller = TransformStreamDefaultController<Uint8Array>;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** A body is past the bounds and answers no call that could get an error in its place. */
class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/** The id of the call in a request body; undefined when the body is not a call. */
export function askedBy(body: unknown): Id | undefined {
  if (typeof body !== 'string') return undefined;
  const scan = new MessageScan();
  scan.push(Buffer.from(body));
  return scan.isCall ? scan.id : undefined;
}

/**
 * The same response within the bounds of a message. A message past them is replaced: the call `asked` gets an error that
 * says so, at once; the connection and other calls go on. A body that answers no call fails with `ResponseTooLarge`.
 */
export function boundedResponse(response: Response, asked: Id | undefined, onRefused: OnRefused): Response {
  if (response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // The body may become shorter.
  headers.delete('content-length');
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const id = response.ok ? asked : undefined;
  if (isStream) {
    const bounds = new EventStreamBounds(id, onRefused);
    return new Response(response.body.pipeThrough(new TransformStream(bounds)), {
      status,
      statusText,
      headers,
    });
  }
  const bounds = new BodyBounds(id, onRefused);
  if (Number(response.headers.get('content-length')) > MAX_MESSAGE_BYTES && id !== undefined) {
    void response.body.cancel().catch(() => undefined);
    return new Response(bounds.tooLong(id), { status, statusText, headers });
  }
  return new Response(response.body.pipeThrough(new TransformStream(bounds)), {
    status,
    statusText,
    headers,
  });
}

/** Bounds a body that is one message. */
class BodyBounds implements Transformer<Uint8Array, Uint8Array> {
  private readonly message = new BoundedMessage();

  constructor(
    private readonly id: Id | undefined,
    private readonly onRefused: OnRefused,
  ) {}

  transform(chunk: Uint8Array, controller: Controller): void {
    this.message.push(chunk);
    const { refusedFor } = this.message;
    if (refusedFor === undefined) return;
    controller.enqueue(this.refused(refusedFor));
    controller.terminate();
  }

  flush(controller: Controller): void {
    const whole = this.message.end();
    if (Buffer.isBuffer(whole)) controller.enqueue(whole);
  }

  /** For a body whose `content-length` is past the bounds. */
  tooLong(id: Id): Uint8Array<ArrayBuffer> {
    const reason = `The answer of the tool server has more than ${MAX_MESSAGE_BYTES} bytes (10 MiB), so it was not read.`;
    this.onRefused(reason);
    return Buffer.from(JSON.stringify(refusal(id, reason)));
  }

  private refused(reason: string): Uint8Array {
    this.onRefused(reason);
    if (this.id === undefined) throw new ResponseTooLarge(reason);
    return Buffer.from(JSON.stringify(refusal(this.id, reason)));
  }
}

/** The library takes about a tenth of a millisecond for each. */
const EVENTS_IN_A_TURN = 50;
const MAX_EVENTS = 2000;
const WINDOW_MS = 1000;

/**
 * Bounds an event stream whose events are messages: each is passed on when it is complete. One past the bounds is skipped
 * to its end; when it is a response, an error takes its place.
 */
class EventStreamBounds implements Transformer<Uint8Array, Uint8Array> {
  private readonly event = new BoundedMessage();
  private lineLength = 0;
  private last = 0;
  private isAnswered = false;
  /** Whether the event has anything but line ends. */
  private hasText = false;
  /** Since the window began. */
  private events = 0;
  private windowEnd = 0;

  /** `id`: the call that the stream answers; undefined for a stream that answers many calls or none. */
  constructor(
    private readonly id: Id | undefined,
    private readonly onRefused: OnRefused,
  ) {}

  async transform(chunk: Uint8Array, controller: Controller): Promise<void> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (!this.endsEvent(chunk[at] ?? 0)) continue;
      if (this.hasText) {
        this.event.push(chunk.subarray(start, at + 1));
        this.finish(controller);
        await this.pace();
      } else if (this.event.size > 0) this.event.end();
      this.hasText = false;
      start = at + 1;
    }
    this.event.push(chunk.subarray(start));
    const { size, isTooLong, isCall } = this.event;
    if (isTooLong && !isCall && !this.isAnswered && this.id !== undefined) {
      this.isAnswered = true;
      this.refuse(this.id, String(this.event.refusedFor), controller);
    }
    if (size > MAX_SKIPPED_BYTES) throw new Error('The tool server sent an event without end.');
  }

  flush(controller: Controller): void {
    this.finish(controller);
  }

  private endsEvent(byte: number): boolean {
    const isBreak = byte === LINE_FEED || byte === CARRIAGE_RETURN;
    // A line feed right after a carriage return belongs to it.
    const ends = isBreak && this.lineLength === 0 && !(byte === LINE_FEED && this.last === CARRIAGE_RETURN);
    this.lineLength = isBreak ? 0 : this.lineLength + 1;
    if (!isBreak) this.hasText = true;
    this.last = byte;
    return ends;
  }

  /** Others have their turn between the events of a flood, and it is read no faster than a child's. */
  private async pace(): Promise<void> {
    this.events += 1;
    if (this.events % EVENTS_IN_A_TURN !== 0) return;
    const now = performance.now();
    if (now >= this.windowEnd) {
      this.windowEnd = now + WINDOW_MS;
      this.events = 0;
    }
    if (this.events < MAX_EVENTS) await new Promise(setImmediate);
    else await sleep(this.windowEnd - now);
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
