import type { AttemptClock } from './attempt-clock.js';
import { type ServerEvent, ServerEventParser } from './server-event-parser.js';
import { WireFault } from './wire-fault.js';

/**
 * Reads an event stream as fast as the consumer asks for events and no faster; leaving it closes the connection.
 * The SDKs' own decoders are not used: they buffer without a bound, rescan what they hold at every chunk,
 * pass an aborted stream off as a finished one, and print what they cannot parse.
 */
export async function* readServerEvents(
  response: Response,
  clock: AttemptClock,
): AsyncGenerator<ServerEvent> {
  const reader = bodyOf(response).getReader();
  const decoder = new TextDecoder();
  const parser = new ServerEventParser();
  let finished = false;
  try {
    for (;;) {
      clock.waiting();
      const { done, value } = await reader.read().catch(broken);
      finished = done;
      const events = done ? lastOf(parser) : parser.push(decoder.decode(value, { stream: true }));
      if (parser.sawLine) clock.alive();
      for (const event of events) {
        clock.arrived();
        yield event;
      }
      if (done) return;
    }
  } finally {
    if (!finished) void reader.cancel().catch(() => undefined);
  }
}

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  // Some compatible servers forget the type of a stream; these two mean another kind of answer.
  if (response.body === null || type === 'text/html' || type === 'application/json') {
    void response.body?.cancel().catch(() => undefined);
    throw new WireFault({ kind: 'malformed', what: `something that is not an event stream` });
  }
  return response.body;
}

function lastOf(parser: ServerEventParser): ServerEvent[] {
  const last = parser.end();
  return last === undefined ? [] : [last];
}

function broken(): never {
  throw new WireFault({ kind: 'cut' });
}
