import fc from 'fast-check';
import { mintToken } from '../tokens/token-format.js';
import { Redactor, redactPatterns } from './redactor.js';
import { REDACTED } from './secret-finder.js';

function redactorOf(...secrets: string[]): Redactor {
  const redactor = new Redactor();
  redactor.setFor('test', secrets);
  return redactor;
}

/** Any characters but the star: a secret made of the mark's own ends may arise anew beside a mark. */
const secret = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 8, maxLength: 60 }),
    fc.string({ unit: 'binary', minLength: 8, maxLength: 20 }),
  )
  .filter((s) => s.length >= 8 && !s.includes('*') && !REDACTED.includes(s));
const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map((s) => s.replaceAll('*', ''));

describe('a secret', () => {
  test('never stays in a text, wherever it stands', () => {
    fc.assert(
      fc.property(secret, text, text, text, (hidden, a, b, c) => {
        const redacted = redactorOf(hidden).redact(`${a}${hidden}${b}${hidden}${c}`);
        expect(redacted).not.toContain(hidden);
        expect(redacted).toContain(REDACTED);
      }),
      { numRuns: 2000 },
    );
  });

  test('never stays when it overlaps, holds or follows another', () => {
    const cuts = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 8, max: 30 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(secret, cuts, text, text, (base, parts, before, after) => {
        const secrets = parts.map(([at, length]) => {
          const from = at % (base.length - 7);
          return base.slice(from, from + length);
        });
        const redacted = redactorOf(...secrets).redact(`${before}${base}${secrets.join('')}${after}`);
        for (const one of secrets) expect(redacted).not.toContain(one);
      }),
      { numRuns: 1000 },
    );
  });

  const encoders: [string, (s: string) => string][] = [
    ['JSON', (s) => JSON.stringify({ message: `a ${s} b` })],
    ['JSON within JSON', (s) => JSON.stringify({ message: JSON.stringify({ error: s }) })],
    ['a query value', (s) => `https://h.example/?key=${encodeURIComponent(s)}&b=1`],
    [
      'a query value with small hex digits',
      (s) => `?key=${encodeURIComponent(s).replace(/%../g, (e) => e.toLowerCase())}`,
    ],
    ['a whole URI', (s) => `/a/${encodeURI(s)}/b`],
    ['a form', (s) => new URLSearchParams({ a: 'x', key: s, z: 'y' }).toString()],
    [
      'the credentials of a URL',
      (s) => Object.assign(new URL('amqp://h.example/p'), { username: 'me', password: s }).href,
    ],
    ['basic credentials', (s) => `x:${Buffer.from(`user:${s}`).toString('base64')}`],
    ['base64 at another offset', (s) => Buffer.from(`userx:${s}\n`).toString('base64')],
    ['base64 at a third offset', (s) => Buffer.from(`userxy:${s}`).toString('base64')],
    ['base64url', (s) => Buffer.from(`user:${s}`).toString('base64url')],
  ];

  test.each(encoders)('is found written as %s', (_, encode) => {
    fc.assert(
      fc.property(secret, (raw) => {
        const hidden = Buffer.from(raw).toString();
        fc.pre(hidden.length >= 8);
        const redacted = redactorOf(hidden).redact(encode(hidden));
        expect(redacted).toContain(REDACTED);
        expect(redacted).not.toContain(hidden);
      }),
      { numRuns: 300 },
    );
  });

  test('leaves valid JSON behind when it was in a JSON text', () => {
    fc.assert(
      fc.property(secret, text, (hidden, around) => {
        const line = JSON.stringify({ message: `${around}${hidden}${around}` });
        const redacted = JSON.parse(redactorOf(hidden).redact(line)) as { message: string };
        expect(redacted.message).not.toContain(hidden);
      }),
    );
  });

  test('of several lines is found whole and line by line', () => {
    const key =
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END';
    const redactor = redactorOf(key);
    expect(redactor.redact(JSON.stringify({ key }))).toBe(`{"key":"${REDACTED}"}`);
    expect(redactor.redact('stderr: BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj')).toBe(`stderr: ${REDACTED}`);
  });

  test('with blanks around it in the configuration is found without them', () => {
    expect(redactorOf('s3cret-value\n').redact('got s3cret-value.')).toBe(`got ${REDACTED}.`);
  });

  test('shorter than eight characters is not looked for', () => {
    expect(redactorOf('short', '1234567', '').redact('short 1234567')).toBe('short 1234567');
  });

  test('equal to the mark changes nothing', () => {
    const redactor = redactorOf(REDACTED, 'REDACTED');
    expect(redactor.redact(`a ${REDACTED} b`)).toBe(`a ${REDACTED} b`);
  });
});

describe('a text', () => {
  test('without a secret stays the same', () => {
    const words = fc.array(
      fc.constantFrom('level', '"info"', '{', '::', '12.5', 'a/b', 'é', '%20', 'user@host'),
    );
    const redactor = redactorOf('hunter2-hunter2', 'correct horse battery staple');
    fc.assert(fc.property(words, (some) => expect(redactor.redact(some.join(' '))).toBe(some.join(' '))));
  });

  test('redacted twice is as redacted once', () => {
    fc.assert(
      fc.property(secret, text, (hidden, around) => {
        const redactor = redactorOf(hidden);
        const once = redactor.redact(`${around} ${hidden} Bearer ${hidden} https://u:${hidden}@h`);
        expect(redactor.redact(once)).toBe(once);
      }),
    );
  });

  test('also loses what only looks like a secret', () => {
    expect(new Redactor().redact('Authorization: Bearer abcdefgh12345678')).toBe(
      `Authorization: Bearer ${REDACTED}`,
    );
  });
});

describe('owners', () => {
  const [a, b, c] = ['secret-number-1', 'secret-number-2', 'secret-number-3'] as const;
  const line = `${a} ${b} ${c}`;

  test('replace all their secrets at once', () => {
    const redactor = redactorOf(a, b);
    expect(redactor.redact(line)).toBe(`${REDACTED} ${REDACTED} ${c}`);
    redactor.setFor('test', [b, c]);
    expect(redactor.redact(line)).toBe(`${a} ${REDACTED} ${REDACTED}`);
    redactor.setFor('test', []);
    expect(redactor.redact(line)).toBe(line);
  });

  test('keep a secret hidden that another owner removes', () => {
    const redactor = redactorOf(a, a, b);
    redactor.setFor('other', [a]);
    redactor.setFor('test', []);
    expect(redactor.redact(line)).toBe(`${REDACTED} ${b} ${c}`);
    redactor.setFor('other', []);
    expect(redactor.redact(line)).toBe(line);
  });

  test('do not touch secrets added one by one, which stay until they are removed', () => {
    const redactor = redactorOf(a);
    redactor.add(b);
    redactor.add(b);
    redactor.add(c);
    redactor.setFor('test', []);
    expect(redactor.redact(line)).toBe(`${a} ${REDACTED} ${REDACTED}`);
    redactor.remove(b);
    redactor.remove('never added');
    expect(redactor.redact(line)).toBe(`${a} ${b} ${REDACTED}`);
  });

  test('agree with a plain count after any sequence of changes', () => {
    const owner = fc.constantFrom('x', 'y');
    const secrets = fc.subarray([a, b, c]);
    fc.assert(
      fc.property(fc.array(fc.tuple(owner, secrets), { maxLength: 12 }), (changes) => {
        const redactor = new Redactor();
        const held = new Map<string, string[]>();
        for (const [name, some] of changes) {
          redactor.setFor(name, some);
          held.set(name, some);
          const hidden = new Set([...held.values()].flat());
          expect(redactor.redact(line)).toBe([a, b, c].map((s) => (hidden.has(s) ? REDACTED : s)).join(' '));
        }
      }),
    );
  });

  test('may not hold more secrets than the bound, and are not changed by the attempt', () => {
    const redactor = new Redactor(2);
    redactor.setFor('test', [a, b]);
    redactor.setFor('other', [b]);
    expect(() => redactor.add(c)).toThrow(RangeError);
    expect(() => redactor.setFor('test', [a, b, c])).toThrow('More than 2 different secrets');
    expect(redactor.redact(line)).toBe(`${REDACTED} ${REDACTED} ${c}`);
    redactor.setFor('test', [b, c]);
    expect(redactor.redact(line)).toBe(`${a} ${REDACTED} ${REDACTED}`);
  });
});

const KEY = 'AbCdEf0123456789_-XyZabcdefghijklmn';

describe('what looks like a secret', () => {
  test.each([
    ['a token of this gateway', `token ${mintToken()} refused`, 'token ***REDACTED*** refused'],
    ['a token that was cut short', `${mintToken().slice(0, 40)}…`, '***REDACTED***…'],
    ['a bearer header', `Authorization: Bearer ${KEY}.a~b+c/d==`, 'Authorization: Bearer ***REDACTED***'],
    [
      'a bearer header in small and in capital letters',
      `bearer ${KEY}, BEARER ${KEY}`,
      'bearer ***REDACTED***, BEARER ***REDACTED***',
    ],
    ['a bearer value in a query', `?authorization=Bearer%20${KEY}`, '?authorization=Bearer%20***REDACTED***'],
    ['basic credentials', '"Basic dXNlcjpodW50ZXIyMg=="', '"Basic ***REDACTED***"'],
    ['a key of OpenAI', `key=sk-proj-${KEY}`, 'key=***REDACTED***'],
    ['a key of Anthropic', `(sk-ant-api03-${KEY})`, '(***REDACTED***)'],
    ['a key behind a JSON escape', `{"m":"line\\nsk-${KEY}"}`, '{"m":"line\\n***REDACTED***"}'],
    ['a key behind an underscore', `my_sk-${KEY}`, 'my_***REDACTED***'],
    [
      'a bot token in a URL of Telegram',
      `https://api.telegram.org/bot123456789:${KEY}/getMe`,
      'https://api.telegram.org/bot***REDACTED***/getMe',
    ],
    ['tokens of Slack', 'xoxb-1234567890-abcdef xapp-1-A0123456789-abc', '***REDACTED*** ***REDACTED***'],
    ['a webhook secret', '"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/=="', '"***REDACTED***"'],
    ['credentials in a URL', 'postgres://gate:pa:ss@db:5432/x', 'postgres://***REDACTED***@db:5432/x'],
    [
      'a password with an at sign',
      'see amqp://u:p@ss@host/v and http://plain.example/a@b',
      'see amqp://***REDACTED***@host/v and http://plain.example/a@b',
    ],
    [
      'a token as the only credential of a URL',
      'https://ghtoken@example.com/r.git',
      'https://***REDACTED***@example.com/r.git',
    ],
  ])('%s is removed, and the text around it stays', (_, text, expected) => {
    expect(redactPatterns(text)).toBe(expected);
    expect(redactPatterns(expected)).toBe(expected);
  });

  test.each([
    'a task-force-on-something-very-long met at the desk-of-a-friend-in-town',
    'sess_01h455vb4pex5vsknk084sn02q and agw_sessions_active are no secrets',
    'HTTP 401 with WWW-Authenticate: Bearer realm="gateway", error="invalid_token"',
    'basic authentication is not offered; a basic understanding helps',
    'http://127.0.0.1:3120/api/v1/sessions?limit=5 answered at 2026-11-21T03:45:46.123Z',
    'mail someone@example.com about https://example.com/a and 1763700000000:12',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '{"module":"edge::access","ms":12.5,"route":"/sessions/:id/messages"}',
  ])('%s: stays as it is', (text) => {
    expect(redactPatterns(text)).toBe(text);
  });

  test('takes time proportional to the length, even for texts made to take longer', () => {
    const starts = [
      'a',
      '1',
      'sk-',
      '://',
      '://a:',
      'Bearer ',
      'Bearer a',
      'Basic a',
      '12345:',
      'xoxb-',
      'whsec_',
      'agw_',
    ];
    const run = (text: string) => {
      const before = performance.now();
      redactPatterns(text);
      return performance.now() - before;
    };
    for (const start of starts) {
      const small = Math.max(1, ...[1, 2, 3].map(() => run(start.repeat(20_000 / start.length))));
      // Twenty times the text; a quadratic search would take four hundred times as long.
      const large = Math.min(...[1, 2, 3].map(() => run(start.repeat(400_000 / start.length))));
      expect(large / small).toBeLessThan(150);
    }
  });
});
