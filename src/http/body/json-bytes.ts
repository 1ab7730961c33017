import { isUtf8 } from 'node:buffer';
import { BadRequest } from '../../common/errors/gateway-error.js';
import { JsonScanner } from './json-scanner.js';
import { oneAtATime } from './one-at-a-time.js';

/** From so many bytes on a body is read in steps, between which other requests are served. */
const LARGE_BYTES = 131_072;

const inTurn = oneAtATime();

/**
 * The JSON object a request body holds, every key as an own property (`__proto__` too). Throws `BadRequest` with a
 * sentence that says what is wrong and at which byte, and echoes one character at most (docs/specification/silences.md,
 * Errors). A byte order mark is skipped, as RFC 8259, 8.1 allows: some clients cannot help sending one.
 */
export function parseJsonObject(body: Buffer): Record<string, unknown> {
  return parse(body, check(body));
}

/** The same, a promise for a large body: those are taken one after the other, each in steps of its own. */
export function readJsonObject(body: Buffer): Record<string, unknown> | Promise<Record<string, unknown>> {
  if (body.length < LARGE_BYTES) return parseJsonObject(body);
  return inTurn(async (pause) => {
    const start = check(body);
    await pause();
    const parsed = parse(body, start);
    // What is done with it next is long, too.
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

function parse(body: Buffer, start: number): Record<string, unknown> {
  try {
    return JSON.parse(body.toString('utf8', start)) as Record<string, unknown>;
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
