import { isUtf8 } from 'node:buffer';
import { BadRequest } from '../errors/gateway-error.js';
import { JsonScanner } from './json-scanner.js';

/**
 * The JSON object a request body holds, every key as an own property (`__proto__` too). Throws `BadRequest` with a
 * sentence that says what is wrong and at which byte, and echoes one character at most (decisions 8). A byte order mark is
 * skipped, as RFC 8259, 8.1 allows: some clients cannot help sending one.
 */
export function parseJsonObject(body: Buffer): Record<string, unknown> {
  if (!isUtf8(body)) throw new BadRequest('The body is not valid UTF-8.');
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  if (body.length === start) throw new BadRequest('The body is empty; send a JSON object.');
  new JsonScanner(body, start).scan();
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
