import type { IncomingMessage } from 'node:http';
import type { AttemptClock } from './attempt-clock.js';
import { type ServerEvent, ServerEventParser } from './server-event-parser.js';
import { WireFault } from './wire-fault.js';

/**
 * Reads an event stream as fast as the consumer asks for events and no faster: those that came together, together, which
 * spares each the promises of a generator. Leaving it closes the connection.
 * The SDKs' own decoders are not used: they buffer without a bound, rescan what they hold at every chunk,
 * pass an aborted stream off as a finished one, and print what they cannot parse.
 */
export async function* readServerEvents(
  answer: IncomingMessage,
  clock: AttemptClock,
): AsyncGenerator<readonly ServerEvent[]> {
  const pieces = piecesOf(answer);
  const decoder = new TextDecoder();
  const parser = new ServerEventParser();
  let finished = false;
  try {
    for (;;) {
      clock.waiting();
      const { done, value } = await pieces.next().catch(broken);
      finished = done === true;
      const events = done ? lastOf(parser) : parser.push(decoder.decode(value, { stream: true }));
      if (parser.sawLine) clock.alive();
      if (events.length > 0) {
        clock.arrived();
        yield events;
      }
      if (done) return;
    }
  } finally {
    if (!finished) answer.destroy();
  }
}

function piecesOf(answer: IncomingMessage): AsyncIterator<Uint8Array, undefined> {
  const type = answer.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  // Some compatible servers forget the type of a stream; these two mean another kind of answer, and 204 means none.
  if (answer.statusCode === 204 || type === 'text/html' || type === 'application/json') {
    answer.destroy();
    throw new WireFault({ kind: 'malformed', what: `something that is not an event stream` });
  }
  return answer.iterator() as AsyncIterator<Uint8Array, undefined>;
}

function lastOf(parser: ServerEventParser): ServerEvent[] {
  const last = parser.end();
  return last === undefined ? [] : [last];
}

function broken(): never {
  throw new WireFault({ kind: 'cut' });
}
