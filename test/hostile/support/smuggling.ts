import { request } from '../../contract/support/raw-connection.js';

export const SESSIONS = '/api/v1/sessions';
/** The user of every session that only a smuggled request would create, and that request's id. */
export const SMUGGLED = 'smuggled';
/** The id of the outer request. */
const OUTER = 'outer';

/** Two requests in one: the outer one, and what one reader takes for its body and another for the next request. */
export interface Attack {
  readonly what: string;
  readonly bytes: Buffer;
}

type Framing = readonly [what: string, headers: readonly string[], body: string];

/** Every attack, with this caller's Authorization header. */
export function attacks(authorization: string): Attack[] {
  const inner = request(
    'POST',
    SESSIONS,
    {
      Authorization: authorization,
      'X-Request-Id': SMUGGLED,
      'Content-Type': 'application/json',
      'Content-Length': '22',
    },
    `{"user_id":"${SMUGGLED}"}`,
  ).toString('latin1');
  const framed = [...lengths(inner), ...codings(inner), ...chunks(inner), ...headerLines(inner)];
  const whole = framed.map(([what, headers, body]) => ({ what, bytes: outer(authorization, headers, body) }));
  return [...whole, ...requestLines(inner)];
}

function outer(authorization: string, headers: readonly string[], body: string): Buffer {
  const own = ['Host: gateway.test', `Authorization: ${authorization}`, `X-Request-Id: ${OUTER}`];
  const lines = [`POST ${SESSIONS} HTTP/1.1`, ...own, 'Content-Type: application/json', ...headers];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

/**
 * Request lines that one reader takes for another version of HTTP, and what follows for a body or for the next
 * request.
 */
function requestLines(inner: string): Attack[] {
  const lines: [string, string][] = [
    ['HTTP/0.9', `GET ${SESSIONS}\r\n`],
    ['HTTP/0.9 behind a line feed alone', `GET ${SESSIONS}\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version of its own', `GET ${SESSIONS} HTTP/1.9\r\nHost: gateway.test\r\n\r\n`],
    ['a version twice', `GET ${SESSIONS} HTTP/1.1 HTTP/1.1\r\nHost: gateway.test\r\n\r\n`],
    ['a tab for a blank', `GET\t${SESSIONS}\tHTTP/1.1\r\nHost: gateway.test\r\n\r\n`],
    ['a line feed in the target', `GET /\nX HTTP/1.1\r\nHost: gateway.test\r\n\r\n`],
    ['a carriage return in the target', `GET /\rX HTTP/1.1\r\nHost: gateway.test\r\n\r\n`],
    ['a NUL in the method', `GE\0T / HTTP/1.1\r\nHost: gateway.test\r\n\r\n`],
  ];
  return lines.map(([what, line]) => ({ what: `line: ${what}`, bytes: Buffer.from(line + inner, 'latin1') }));
}

/** Lengths that one reader takes for the whole body, and another for less or none. */
function lengths(inner: string): Framing[] {
  const body = `{"channel":"pigeon"}${inner}`;
  const [whole, own] = [body.length, 20];
  const values: [string, string[]][] = [
    ['two lengths', [String(whole), String(own)]],
    ['two lengths the other way round', [String(own), String(whole)]],
    ['a list of lengths', [`${own}, ${whole}`]],
    ['a list of the same length', [`${whole}, ${whole}`]],
    ['a plus', [`+${whole}`]],
    ['a minus', [`-${whole}`]],
    ['minus zero', ['-0']],
    ['hexadecimal', [`0x${whole.toString(16)}`]],
    ['an exponent', ['1e2']],
    ['a fraction', [`${whole}.0`]],
    ['an underscore', [`${whole}_0`]],
    ['a blank within', [`${own} ${whole}`]],
    ['a letter after it', [`${whole}a`]],
    ['no digits', ['']],
    ['fullwidth digits', ['\xef\xbc\x91\xef\xbc\x90']],
    ['more digits than a number has', ['9'.repeat(30)]],
    ['a length that wraps round', [String(2n ** 64n + BigInt(own))]],
    ['a vertical tab before it', [`\x0b${whole}`]],
    ['a NUL after it', [`${whole}\0`]],
  ];
  return values.map(([what, given]) => [
    `length: ${what}`,
    given.map((value) => `Content-Length: ${value}`),
    body,
  ]);
}

/** Codings that one reader takes for chunked and another does not: CL.TE, TE.CL and TE.TE. */
function codings(inner: string): Framing[] {
  const lines: [string, string[]][] = [
    ['chunked', ['Transfer-Encoding: chunked']],
    ['chunked in capitals', ['TRANSFER-ENCODING: CHUNKED']],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['chunked and something else', ['Transfer-Encoding: chunked', 'Transfer-Encoding: x']],
    ['something else and chunked', ['Transfer-Encoding: x', 'Transfer-Encoding: chunked']],
    ['a list that ends otherwise', ['Transfer-Encoding: chunked, identity']],
    ['nearly chunked', ['Transfer-Encoding: xchunked']],
    ['quoted', ['Transfer-Encoding: "chunked"']],
    ['with a parameter', ['Transfer-Encoding: chunked;q=1']],
    ['with a tab', ['Transfer-Encoding:\tchunked']],
    ['with a vertical tab', ['Transfer-Encoding: \x0bchunked']],
    ['with a NUL', ['Transfer-Encoding: chunked\0']],
    ['with a bare carriage return', ['Transfer-Encoding: chunked\rX: y']],
    ['with a blank before the colon', ['Transfer-Encoding : chunked']],
    ['with a tab before the colon', ['Transfer-Encoding\t: chunked']],
    ['folded', ['Transfer-Encoding:', ' chunked']],
    ['folded onto another', ['X-Fold: a', ' Transfer-Encoding: chunked']],
    ['behind a line feed alone', ['X-Line: a\nTransfer-Encoding: chunked']],
    ['behind a carriage return alone', ['X-Line: a\rTransfer-Encoding: chunked']],
    ['with a byte before it', ['\x00Transfer-Encoding: chunked']],
    ['with a blank before it', [' Transfer-Encoding: chunked']],
    ['that is empty', ['Transfer-Encoding:']],
    ['identity', ['Transfer-Encoding: identity']],
  ];
  const ended = `0\r\n\r\n${inner}`;
  const chunked = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
  return lines.flatMap(([what, given]): Framing[] => [
    [`CL.TE: ${what}`, [`Content-Length: ${ended.length}`, ...given], ended],
    [`TE.CL: ${what}`, [...given, `Content-Length: ${chunked.indexOf('\n') + 1}`], chunked],
  ]);
}

/** Chunks whose end one reader sees sooner than another. */
function chunks(inner: string): Framing[] {
  const size = inner.length.toString(16);
  const bodies: [string, string][] = [
    ['a size with a plus', `+0\r\n\r\n${inner}`],
    ['a size with a minus', `-1\r\n${inner}\r\n0\r\n\r\n`],
    ['a size with 0x', `0x${size}\r\n${inner}\r\n0\r\n\r\n`],
    ['a size with a blank before it', ` 0\r\n\r\n${inner}`],
    ['a size that wraps round', `10000000000000000\r\n${inner}\r\n0\r\n\r\n`],
    ['a size without digits', `\r\n${inner}\r\n0\r\n\r\n`],
    ['a size in words', `zero\r\n\r\n${inner}`],
    ['a size behind a line feed alone', `${size}\n${inner}\r\n0\r\n\r\n`],
    ['an extension with a line feed alone', '2;a\n{}\r\n0\r\n\r\n'],
    ['an extension with a carriage return alone', '2;a\rX\r\n{}\r\n0\r\n\r\n'],
    ['an extension with a NUL', '2;a=\0\r\n{}\r\n0\r\n\r\n'],
    ['data longer than its size', `1\r\n${inner}\r\n0\r\n\r\n`],
    ['data without its end', `2\r\n{}0\r\n\r\n${inner}`],
    ['an end behind a line feed alone', `0\n\n${inner}`],
  ];
  return bodies.map(([what, body]) => [`chunk: ${what}`, ['Transfer-Encoding: chunked'], body]);
}

/** Lines that one reader takes for the end of the head, or for another header. */
function headerLines(inner: string): Framing[] {
  const length = `Content-Length: ${inner.length}`;
  const lines: [string, string[]][] = [
    ['a length with a blank before the colon', [`Content-Length : ${inner.length}`]],
    ['a length behind a line feed alone', [`X-Line: a\n${length}`]],
    ['a length behind a carriage return alone', [`X-Line: a\r${length}`]],
    ['a folded length', ['Content-Length:', ` ${inner.length}`]],
    ['a length folded onto another', ['X-Fold: a', ` ${length}`]],
    ['a NUL in a name', ['X\0: a', length]],
    ['a NUL in a value', ['X: a\0b', length]],
    ['a line without colon', ['X', length]],
    ['a name that is empty', [': a', length]],
    ['an end of line feeds', ['X: a\n\n']],
    ['an end of carriage returns', ['X: a\r\r']],
  ];
  return lines.map(([what, headers]) => [`head: ${what}`, headers, inner]);
}
