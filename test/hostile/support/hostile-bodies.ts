import { LONG, MAX_BODY_BYTES } from './hostile-gateway.js';

export interface HostileBody {
  readonly what: string;
  readonly status: number;
  readonly bodies: readonly (string | Buffer)[];
  readonly headers?: Readonly<Record<string, string>>;
}

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

const all = (what: string, status: number, bodies: readonly (string | Buffer)[]): HostileBody => ({
  what,
  status,
  bodies,
});

const typed = (what: string, headers: Record<string, string>): HostileBody => ({
  what,
  status: 415,
  bodies: ['{}'],
  headers,
});

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** Bodies that every route refuses, whatever its fields (docs/specification/silences.md, Errors). */
export const HOSTILE_BODIES: readonly HostileBody[] = [
  all('malformed JSON', 400, [
    '{',
    '}',
    '{]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1}{"b":2}',
    '{"a":1} x',
    'x{"a":1}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":undefined}',
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":0x1}',
    '{"a":tru}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    '{"a":"',
    '{"a":"x',
    '{/* */}',
    '{"a":1}//',
    '{"a":"\n"}',
    '{"a":"\t"}',
    ' ',
    '\u00a0{}',
    '\u2028',
    `{"${LONG}`,
    `{${LONG}}`,
    LONG,
  ]),
  all('no object', 400, ['[]', '[{}]', '"x"', '1', '-0', 'true', 'false', 'null', `"${LONG}"`]),
  all('invalid UTF-8', 400, [
    bytes('{"channel":"', [0xff], '"}'),
    bytes('{"channel":"', [0xc0, 0x80], '"}'),
    bytes('{"channel":"', [0xed, 0xa0, 0x80], '"}'),
    bytes('{"channel":"', [0xe2, 0x82], '"}'),
    bytes('{"channel":"', [0xf4, 0x90, 0x80, 0x80], '"}'),
    bytes([0xff, 0xfe], '{}'),
    Buffer.from('{}', 'utf16le'),
  ]),
  all('NUL', 400, [
    bytes('{"channel":"a', [0], 'b"}'),
    bytes('{', [0], '}'),
    bytes('{}', [0]),
    '{"channel":"a\\u0000b"}',
    '{"a\\u0000":1}',
    '{"metadata":{"a":["\\u0000"]}}',
    '{"content":"\\u0000"}',
  ]),
  all('lone surrogates', 400, [
    '{"channel":"\\ud800"}',
    '{"channel":"\\udc00"}',
    '{"channel":"\\ud800x"}',
    '{"channel":"\\udc00\\ud800"}',
    '{"\\udfff":1}',
    '{"content":"\\uD83D\\u0041"}',
    '{"metadata":{"k":"\\ud83d"}}',
  ]),
  all('nesting', 400, [
    nested(33),
    nested(3000),
    '{"a":'.repeat(3000),
    `{"metadata":${'['.repeat(3000)}`,
    `{"a":${'['.repeat(32)}${']'.repeat(32)}}`,
  ]),
  all('numbers out of range', 400, [
    '{"a":9007199254740993}',
    '{"a":-9007199254740993}',
    '{"a":1e309}',
    '{"a":-1e999}',
    '{"a":1e-999}',
    `{"a":${'9'.repeat(5000)}}`,
    '{"metadata":{"n":1e400}}',
  ]),
  all('unknown fields', 400, [
    '{"no_such_field":1}',
    `{"${LONG}":"${LONG}"}`,
    '{"":1}',
    '{"0":1}',
    '{"length":0}',
    '{"then":1}',
    '{"prototype":{}}',
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":{"a":1}}}',
    '{"constructor":{"prototype":null}}',
    '{"toString":"x"}',
    '{"hasOwnProperty":1}',
    '{"__defineGetter__":1}',
    '{"valueOf":{"valueOf":1}}',
    '{"a":{"constructor":{"prototype":null}}}',
    `{${Array.from({ length: 1000 }, (_, i) => `"f${i}":${i}`).join(',')}}`,
  ]),
  typed('plain text', { 'Content-Type': 'text/plain' }),
  typed('a form', { 'Content-Type': 'application/x-www-form-urlencoded' }),
  typed('a form of parts', { 'Content-Type': 'multipart/form-data; boundary=x' }),
  typed('no media type', { 'Content-Type': '' }),
  typed('nearly JSON', { 'Content-Type': 'application/jsonx' }),
  typed('two media types', { 'Content-Type': 'application/json, text/plain' }),
  typed('text/json', { 'Content-Type': 'text/json' }),
  typed('a long media type', { 'Content-Type': `application/${LONG}` }),
  typed('UTF-16', { 'Content-Type': 'application/json; charset=utf-16' }),
  typed('Latin 1', { 'Content-Type': 'application/json; charset="iso-8859-1"' }),
  typed('gzip', { 'Content-Encoding': 'gzip' }),
  typed('br', { 'Content-Encoding': 'br' }),
  typed('two encodings', { 'Content-Encoding': 'identity, gzip' }),
  typed('an unknown encoding', { 'Content-Encoding': LONG }),
  all('too many bytes', 413, [
    `{"a":"${'x'.repeat(MAX_BODY_BYTES - 7)}"}`,
    `{"a":"${'x'.repeat(5_000_000)}"}`,
  ]),
];

/** A valid body of a route, and its fields with values that each of them refuses. */
interface WrongValues {
  readonly base: object;
  readonly fields: Readonly<Record<string, readonly unknown[]>>;
}

export const WRONG_VALUES: Readonly<Record<string, WrongValues>> = {
  'a POST /sessions': {
    base: {},
    fields: {
      channel: [null, 1, true, [], {}, ['api'], '', 'x'.repeat(129), LONG, '__proto__', 'constructor'],
      user_id: [null, 1, false, [], {}, '', 'x'.repeat(257)],
      system_prompt: [null, 1, [], {}, ['x']],
      model: [null, 1, [], {}, '', 'x'.repeat(257)],
    },
  },
  'b POST /sessions': {
    base: {},
    fields: {
      channel: [null, 1, true, [], {}, ['api'], '', 'x'.repeat(129), LONG, '__proto__', 'constructor'],
      user_id: [null, 1, false, [], {}, '', 'x'.repeat(257)],
      metadata: [null, 1, 'x', [], [{}], true, { a: 'x'.repeat(16_384) }],
    },
  },
  'POST /sessions/:id/messages': {
    base: { content: 'Hello' },
    fields: {
      content: [null, 1, true, [], {}, ['Hello'], '', ' '],
      attachments: [
        null,
        1,
        'x',
        {},
        [1],
        [null],
        [[]],
        [{}],
        ['x'],
        [{ type: 'image', mime_type: 'image/png', data: `${LONG}!` }],
      ],
    },
  },
  'POST /hooks': {
    base: { url: 'https://hooks.example.test/in', events: ['session.created'] },
    fields: {
      url: [
        null,
        1,
        [],
        {},
        '',
        'x',
        'ftp://hooks.example.test/',
        'https://u:p@hooks.example.test/',
        'javascript:alert(1)',
        LONG,
        `https://hooks.example.test/${'x'.repeat(2048)}`,
      ],
      events: [
        null,
        1,
        'session.created',
        {},
        [],
        [1],
        [null],
        [[]],
        ['no.such.event'],
        [LONG],
        ['__proto__'],
        ['constructor'],
        Array(51).fill('session.created'),
      ],
      secret: [null, 1, [], {}, '', 'short', 'x'.repeat(257)],
    },
  },
  'PATCH /config': {
    base: {},
    fields: {
      'agent.max_turns': ['5', 0, -1, 1.5, 1e9, true, [], {}],
      'agent.on_busy': [1, 'Queue', LONG, []],
      'agent.no_such_key': [1],
      'no_such_section.key': [1],
      agent: [1, 'x', []],
      '': [1],
      '.': [1],
      'agent.': [1],
      'agent.__proto__': [1],
      'agent.constructor.prototype': [1],
      [LONG]: [LONG],
    },
  },
};
