import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { ModelEvent } from '../../model-provider.port.js';
import type { AttemptClock } from './attempt-clock.js';
import { WireFault } from './wire-fault.js';

export interface ServerEvent {
  /** Empty when the event names none. */
  readonly event: string;
  readonly data: string;
}

/** The most characters of a stream without a complete event. */
const MAX_PENDING_CHARS = 4 * 1024 * 1024;

/** Cuts text into server-sent events, in time linear in its length however it is chopped. */
export class ServerEventParser {
  /** True when the last `push` completed a line, even a mere comment. */
  sawLine = false;
  private events: ServerEvent[] = [];
  private pendingChars = 0;
  private afterReturn = false;
  private readonly parser = createParser({
    onEvent: ({ event = '', data }) => this.events.push({ event, data }),
  });

  /** Throws a `too_large` fault when events stay away for too long. */
  push(chunk: string): ServerEvent[] {
    const text = this.withLineFeeds(chunk);
    this.parser.feed(text);
    this.sawLine = text.includes('\n');
    const { events } = this;
    this.events = [];
    this.pendingChars = events.length > 0 ? 0 : this.pendingChars + chunk.length;
    if (this.pendingChars > MAX_PENDING_CHARS) throw new WireFault({ kind: 'too_large', what: 'event' });
    return events;
  }

  /** The event that lacks only its blank line at the end of the stream; an incomplete event is dropped. */
  end(): ServerEvent | undefined {
    this.parser.feed('\n\n');
    const last = this.events.pop();
    return last !== undefined && isWhole(last.data) ? last : undefined;
  }

  /** A carriage return ends a line at once; the parser would wait for what comes after it. */
  private withLineFeeds(chunk: string): string {
    const text = this.afterReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') this.afterReturn = chunk.endsWith('\r');
    return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
  }
}

function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads an event stream as fast as the consumer asks for events and no faster. Events that arrived together are passed
 * on together, which saves a generator's promises for each. Leaving it closes the connection. The SDKs' own decoders
 * are not used: they buffer without a bound, rescan what they hold at every chunk, pass an aborted stream off as a
 * finished one, and print what they cannot parse.
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
  // Some compatible servers forget the type of a stream; these two types mean another kind of answer, and 204 means
  // none.
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

/** What a provider promises; every field may be missing, and has to be read like that. */
export type Unchecked<T> = T extends string | number | boolean ? T : Listed<T>;

type Listed<T> = T extends readonly (infer Item)[]
  ? readonly Unchecked<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Unchecked<T[Key]> | null }
    : T;

/** The JSON object of an event. */
export function parseEvent<T extends object>(data: string): Unchecked<T> {
  const value = parse(data);
  if (typeof value !== 'object' || value === null) throw malformed();
  return value as Unchecked<T>;
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw malformed();
  }
}

const malformed = (): WireFault =>
  new WireFault({ kind: 'malformed', what: 'an event that is not a JSON object' });

/**
 * Joins texts that came together, and thoughts too: a step for each of them is what an answer costs most. Those before
 * a fault are passed on first.
 */
export function* joinedEvents(events: Iterable<ModelEvent>): Generator<ModelEvent> {
  let type: 'token' | 'reasoning' = 'token';
  let text = '';
  try {
    for (const event of events) {
      if (text !== '' && event.type !== type) {
        yield { type, text };
        text = '';
      }
      if (event.type === 'token' || event.type === 'reasoning') {
        type = event.type;
        text += event.text;
      } else {
        yield event;
      }
    }
  } catch (error) {
    if (text !== '') yield { type, text };
    throw error;
  }
  if (text !== '') yield { type, text };
}
