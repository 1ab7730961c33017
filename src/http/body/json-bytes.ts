import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { BadRequest } from '../../common/errors/gateway-error.js';
import { JsonScanner } from './json-scanner.js';

const nothing = (): void => undefined;

/** Lets the event loop serve what else has arrived. */
type Pause = () => Promise<void>;

const pause: Pause = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Queues work that blocks the event loop: one piece after the other, with a pause before each, so that other requests
 * never wait for more than one step. Callers must bound how much can queue up.
 */
function oneAtATime(): <Result>(work: (pause: Pause) => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(pause).then(() => work(pause));
    // Not its result, which would be kept until the next piece of work.
    last = done.then(nothing, nothing);
    return done;
  };
}

/** Bodies from this size on are parsed in steps, between which other requests are served. */
const LARGE_BYTES = 131_072;
/** Decoded at once, in about 5 ms. */
const STEP_BYTES = 1_048_576;

const inTurn = oneAtATime();

/**
 * Parses the JSON object of a request body, every key as an own property (`__proto__` too). Throws `BadRequest` with a
 * sentence that names the fault and its byte and echoes one character at most (docs/specification/silences.md, Errors).
 * Skips a byte order mark, as RFC 8259, 8.1 allows: some clients always send one.
 */
export function parseJsonObject(body: Buffer): Record<string, unknown> {
  return parse(body.toString('utf8', check(body)));
}

/** The same, but a promise for large bodies: they are parsed one after the other, each in steps. */
export function readJsonObject(body: Buffer): Record<string, unknown> | Promise<Record<string, unknown>> {
  if (body.length < LARGE_BYTES) return parseJsonObject(body);
  return inTurn(async (pause) => {
    const start = check(body);
    const text = await decode(body, start, pause);
    const parsed = parse(text);
    // Validation, which follows, takes long too.
    await pause();
    return parsed;
  });
}

/** @returns where the JSON begins */
function check(body: Buffer): number {
  if (!isUtf8(body)) throw new BadRequest('The body is not valid UTF-8.');
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  if (body.length === start) throw new BadRequest('The body is empty; send a JSON object.');
  new JsonScanner(body, start).scan();
  return start;
}

/**
 * The text of valid UTF-8, decoded in steps with a pause before each: characters beyond ASCII take ten times as long as
 * others, and as long as everything else that is done with a body together.
 */
async function decode(body: Buffer, start: number, pause: Pause): Promise<string> {
  const decoder = new StringDecoder('utf8');
  const pieces: string[] = [];
  for (let at = start; at < body.length; at += STEP_BYTES) {
    await pause();
    pieces.push(decoder.write(body.subarray(at, at + STEP_BYTES)));
  }
  await pause();
  return pieces.join('');
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw rawControlCharacter(error);
  }
}

/** The one fault the scanner leaves to the parser, whose own message would quote the body. */
function rawControlCharacter(cause: unknown): BadRequest {
  const position = /at position (\d+)/.exec(String(cause))?.[1];
  const where = position === undefined ? '' : ` at character ${position}`;
  return new BadRequest(
    `The body is not valid JSON: a string holds a raw control character${where}; write it as an escape such as "\\n".`,
  );
}
