import { gzipSync } from 'node:zlib';
import type { Route } from '../../../src/http/route-table.js';
import { jsonRequest, request } from '../../contract/support/raw-connection.js';
import { IGNORED_HEADERS, UPGRADE, WRONG_CONDITIONS, WRONG_KEYS } from './hostile-headers.js';
import { BROKEN_PATHS, OTHER_NAMES, OTHER_PATHS, OTHER_QUERIES } from './hostile-paths.js';

type Headers = Readonly<Record<string, string>>;

/** A hostile request and its allowed responses: a refusal, or the status of the same request without the attack. */
export interface CorpusCase {
  readonly what: string;
  readonly bytes: Buffer;
  readonly expected: readonly (number | 'as without')[];
}

/** A request that the route understands completely and that changes nothing. */
export interface Harmless {
  readonly route: Route;
  readonly target: string;
  readonly headers: Headers;
}

/** Valid JSON whose fault is found only after everything else was checked. */
const LATE_FAULTS: Readonly<Record<string, string>> = {
  'POST /api/v1/sessions': '{"channel":"pigeon"}',
  'POST /api/v1/sessions/:id/messages': '{"content":"Hello"}',
  'POST /api/v1/hooks': '{"url":"https://hooks.example.test/","events":["no.such.event"]}',
  'PATCH /api/v1/config': '{}',
  'POST /v1/responses': '{"model":"nobody","input":"Hello"}',
  'POST /v1/chat/completions': '{"model":"nobody","messages":[{"role":"user","content":"Hello"}]}',
  'POST /mcp': '{"jsonrpc":"2.0","id":1,"method":"no/such"}',
  'POST /a2a': '{"jsonrpc":"2.0","id":1,"method":"NoSuchMethod"}',
};
/** For operators' routes: asks for something that does not exist. */
const NOTHING_KNOWN = '{"no_such_field":1}';

/** Responses of JSON-RPC faces to headers that other routes ignore. */
const MEANT_BY_JSON_RPC: Readonly<Record<string, readonly number[]>> = {
  'another origin': [403],
  'a last event that never was': [400],
  'types that there are not': [406],
  'a version in the type': [406],
};
export const isJsonRpc = ({ path }: Route): boolean => path === '/mcp' || path === '/a2a';

/** The bytes of a harmless request with the attack's changes. */
export function attacked(
  { route, target, headers }: Harmless,
  attack: { target?: string; headers?: Headers; body?: string | Buffer } = {},
): Buffer {
  const sent = { ...headers, ...attack.headers };
  const to = attack.target ?? target;
  if (!route.takesBody) return request(route.method, to, sent);
  const known = route.path.startsWith('/admin/') ? NOTHING_KNOWN : undefined;
  const body = attack.body ?? LATE_FAULTS[`${route.method} ${route.path}`] ?? known;
  if (body === undefined) throw new Error(`What is harmless for ${route.method} ${route.path}?`);
  return jsonRequest(route.method, to, sent, body);
}

/** All attacks of the corpus on one route. */
export function corpusOf(harmless: Harmless): CorpusCase[] {
  return [...headerCases(harmless), ...pathCases(harmless), ...bodyCases(harmless)];
}

function headerCases(harmless: Harmless): CorpusCase[] {
  const { method, access } = harmless.route;
  // Keys belong to callers, so an open route has none.
  const remembers = access.scope !== 'open' && (method === 'POST' || method === 'PATCH');
  const ignored = IGNORED_HEADERS.map(
    ([what, headers]): CorpusCase => ({
      what: `headers: ${what}`,
      bytes: attacked(harmless, { headers }),
      expected: ['as without', ...(isJsonRpc(harmless.route) ? (MEANT_BY_JSON_RPC[what] ?? []) : [])],
    }),
  );
  const keys = WRONG_KEYS.map(
    (key): CorpusCase => ({
      what: `Idempotency-Key: ${key.slice(0, 20)}`,
      bytes: attacked(harmless, { headers: { 'Idempotency-Key': key } }),
      expected: [remembers ? 400 : 'as without'],
    }),
  );
  const conditions = WRONG_CONDITIONS.map(
    (condition): CorpusCase => ({
      what: `If-Match: ${condition.slice(0, 20)}`,
      bytes: attacked(harmless, { headers: { 'If-Match': condition } }),
      expected: [method === 'PATCH' ? 409 : 'as without'],
    }),
  );
  // `*` matches any representation: "not modified" (RFC 9110, 13.1.2).
  const anything: CorpusCase = {
    what: 'If-None-Match: *',
    bytes: attacked(harmless, { headers: { 'If-None-Match': '*' } }),
    expected: ['as without', 304],
  };
  const upgrade: CorpusCase = {
    what: 'an upgrade to WebSocket',
    bytes: attacked(harmless, { headers: UPGRADE }),
    // Only a GET can upgrade. On other methods the header is ignored (RFC 9110, 7.8).
    expected: [method === 'GET' ? 404 : 'as without'],
  };
  return [...ignored, ...keys, ...conditions, anything, upgrade];
}

function pathCases(harmless: Harmless): CorpusCase[] {
  const { target, route } = harmless;
  const at = (place: string, others: readonly string[], ...expected: CorpusCase['expected']) =>
    others.map(
      (other): CorpusCase => ({
        what: `${place} ${other.slice(0, 40)}`,
        bytes: attacked(harmless, { target: target + other }),
        expected,
      }),
    );
  const queries = OTHER_QUERIES.map((query) => `?${query}`);
  // The fault in the body may be found before the unknown name.
  const unknown: CorpusCase['expected'] = route.takesBody ? [404, 'as without'] : [404];
  const named = route.path.includes(':')
    ? OTHER_NAMES.map(
        (name): CorpusCase => ({
          what: `named ${name.slice(0, 40)}`,
          bytes: attacked(harmless, { target: route.path.replace(/:\w+/, name) }),
          expected: unknown,
        }),
      )
    : [];
  return [
    ...at('path', OTHER_PATHS, 404, 405),
    ...at('path', BROKEN_PATHS, 400),
    ...at('query', queries, 400, 'as without'),
    ...named,
  ];
}

function bodyCases(harmless: Harmless): CorpusCase[] {
  if (!harmless.route.takesBody) return [];
  return BODY_ATTACKS.map(
    ([what, status, headers, body]): CorpusCase => ({
      what: `body: ${what}`,
      bytes: attacked(harmless, { headers, ...(body === undefined ? {} : { body }) }),
      // An object that is not a request is a JSON-RPC error, with status 200.
      expected: isJsonRpc(harmless.route) && status === 400 ? [400, 200] : [status],
    }),
  );
}

const bomb = gzipSync(Buffer.alloc(20_000_000));
const unmatched = (text: string) => `{"no_such_field":${text}}`;

const BODY_ATTACKS: readonly (readonly [
  what: string,
  status: number,
  headers: Headers,
  body?: string | Buffer,
])[] = [
  ['a bomb that says so', 415, { 'Content-Encoding': 'gzip' }, bomb],
  ['a bomb that does not', 400, {}, bomb],
  ['deflate', 415, { 'Content-Encoding': 'deflate' }],
  ['zstd', 415, { 'Content-Encoding': 'zstd' }],
  ['an encoding that is blank', 415, { 'Content-Encoding': ' ,' }],
  ['an encoding with a weight', 415, { 'Content-Encoding': 'identity;q=1' }],
  ['UTF-7', 415, { 'Content-Type': 'application/json; charset=utf-7' }, '{"a":"+ADw-"}'],
  ['UTF-32', 415, { 'Content-Type': 'application/json; charset=utf-32' }],
  ['a charset that is none', 415, { 'Content-Type': 'application/json; charset=' }],
  ['a wildcard type', 415, { 'Content-Type': '*/*' }],
  ['a type and a half', 415, { 'Content-Type': 'application/json/x' }],
  [
    'XML',
    415,
    { 'Content-Type': 'application/xml' },
    '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>',
  ],
  ['YAML', 415, { 'Content-Type': 'application/yaml' }, 'a: &a [*a]'],
  ['JSON lines', 400, {}, '{}\n{}\n'],
  ['JSON with comments', 400, {}, '{/**/"a":1}'],
  ['JSON in a callback', 400, {}, 'x({})'],
  ['a marked stream', 400, {}, Buffer.from('efbbbfefbbbf7b7d', 'hex')],
  ['UTF-16 with its mark', 400, {}, Buffer.from('fffe7b007d00', 'hex')],
  ['an overlong brace', 400, {}, Buffer.from('c1bb7d', 'hex')],
  ['a surrogate in bytes', 400, {}, Buffer.from('7b2261223a22eda0bdedb8802222', 'hex')],
  [
    'keys of every prototype',
    400,
    {},
    unmatched('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}'),
  ],
  ['a key twice, unknown', 400, {}, '{"no_such_field":1,"no_such_field":2}'],
  ['ten thousand keys', 400, {}, `{${Array.from({ length: 5000 }, (_, i) => `"k${i}":0`).join()}}`],
  ['a key of 60 KB', 400, {}, `{"${'k'.repeat(60_000)}":1}`],
  ['a string of escapes', 400, {}, unmatched(`"${'\\u202e'.repeat(9000)}"`)],
  ['a number of 60 KB', 400, {}, unmatched('1'.repeat(60_000))],
  ['a fraction of 60 KB', 400, {}, unmatched(`0.${'1'.repeat(60_000)}`)],
  ['an exponent of 60 KB', 400, {}, unmatched(`1e${'0'.repeat(60_000)}`)],
  ['brackets of 60 KB', 400, {}, unmatched('['.repeat(60_000))],
  ['closing brackets of 60 KB', 400, {}, unmatched(']'.repeat(60_000))],
  ['blanks of 60 KB', 400, {}, ' '.repeat(60_000)],
  ['a toJSON', 400, {}, unmatched('{"toJSON":"x","then":"x","valueOf":1}')],
];
