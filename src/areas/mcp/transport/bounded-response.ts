import type { Transformer } from 'node:stream/web';
import { BoundedMessage, MAX_MESSAGE_BYTES, type OnRefused, refusal } from './bounded-message.js';
import { EventStreamBounds } from './event-stream-bounds.js';
import { MessageScan } from './message-scan.js';

type Id = string | number;

/** A body that grows past what anybody would read, and that answers no call. */
class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** The id of the call that a request makes; undefined when it makes none. */
export function askedBy(body: unknown): Id | undefined {
  if (typeof body !== 'string') return undefined;
  const scan = new MessageScan();
  scan.push(Buffer.from(body));
  return scan.isCall ? scan.id : undefined;
}

/**
 * The same answer within the bounds of a message. What is past them is replaced: the call `asked` gets an error that says
 * so, at once; the connection and other calls go on. A body that answers no call fails.
 */
export function boundedResponse(response: Response, asked: Id | undefined, onRefused: OnRefused): Response {
  if (response.body === null) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // What is sent on may be shorter than what came.
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

/** A body that is one message. */
class BodyBounds implements Transformer<Uint8Array, Uint8Array> {
  private readonly message = new BoundedMessage();

  constructor(
    private readonly id: Id | undefined,
    private readonly onRefused: OnRefused,
  ) {}

  transform(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void {
    this.message.push(chunk);
    const { refusedFor } = this.message;
    if (refusedFor === undefined) return;
    controller.enqueue(this.refused(refusedFor));
    controller.terminate();
  }

  flush(controller: TransformStreamDefaultController<Uint8Array>): void {
    const whole = this.message.end();
    if (Buffer.isBuffer(whole)) controller.enqueue(whole);
  }

  /** For a body that says beforehand how long it is. */
  tooLong(id: Id): Uint8Array<ArrayBuffer> {
    const reason = `The answer of the tool server has more than ${MAX_MESSAGE_BYTES} bytes (10 MiB), so it was not read.`;
    this.onRefused(reason);
    return Buffer.from(JSON.stringify(refusal(id, reason)));
  }

  private refused(reason: string): Uint8Array {
    this.onRefused(reason);
    if (this.id === undefined) throw new AnswerTooLarge(reason);
    return Buffer.from(JSON.stringify(refusal(this.id, reason)));
  }
}
