import fc from 'fast-check';
import { Redactor } from './redactor.js';
import { REDACTED } from './secret-forms.js';

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

  test('is rid also of what only looks like a secret', () => {
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

  test('keep a secret hidden that another owner gives up', () => {
    const redactor = redactorOf(a, a, b);
    redactor.setFor('other', [a]);
    redactor.setFor('test', []);
    expect(redactor.redact(line)).toBe(`${REDACTED} ${b} ${c}`);
    redactor.setFor('other', []);
    expect(redactor.redact(line)).toBe(line);
  });

  test('do not touch secrets added one by one, which stay until removed', () => {
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
