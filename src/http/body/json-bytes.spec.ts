import fc from 'fast-check';
import { BadRequest } from '../../common/errors/gateway-error.js';
import { parseJsonObject, readJsonObject } from './json-bytes.js';

const parse = (text: string) => parseJsonObject(Buffer.from(text));

/** The sentence a body is refused with, or null; fails when anything but `BadRequest` is thrown. */
function outcome(body: string | Buffer): string | null {
  try {
    parseJsonObject(Buffer.from(body));
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(BadRequest);
    return (error as BadRequest).message;
  }
}

function refusal(body: string | Buffer): string {
  return outcome(body) ?? 'the body was accepted';
}

/** JSON values within the rules; the strings bring quotes, backslashes and characters beyond the first plane. */
const text = fc.string({ unit: 'grapheme', maxLength: 90 }).map((s) => s.replaceAll('\0', '"\\'));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 12 },
    fc.constantFrom<unknown>(true, false, null, '', '\\', '"', '\\"', '\u{1f600}', '\ufeff'),
    text,
    fc.maxSafeInteger(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((n) => /[.e]/.test(JSON.stringify(n)) || n % 1 !== 0),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString')), tie('value'), {
      maxKeys: 5,
    }),
  ),
}));
const object = fc.dictionary(text, value, { maxKeys: 6 });
const layout = fc.constantFrom(0, 1, 2, '\t', '\r\n \t');

/** A text as other writers may write it: every character as an escape. */
const escapeAll = (s: string) =>
  [...Array(s.length).keys()].map((i) => `\\u${s.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');

const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);

describe('a body within the rules', () => {
  test('parses to the same as JSON.parse, in any layout', () => {
    fc.assert(
      fc.property(object, layout, (json, space) => {
        const body = JSON.stringify(json, null, space);
        expect(parse(body)).toEqual(JSON.parse(body));
      }),
      { numRuns: 1000 },
    );
  });

  test('may write any character of keys and values as an escape', () => {
    fc.assert(
      fc.property(text, text, (key, string) => {
        const parsed = parse(
          `{"${escapeAll(key)}":["${escapeAll(string).toUpperCase().replaceAll('\\U', '\\u')}"]}`,
        );
        expect(Object.entries(parsed)).toEqual([[key, [string]]]);
      }),
    );
  });

  test('keeps the keys that objects inherit as own properties', () => {
    const parsed = parse('{"__proto__":{"a":1},"constructor":2,"toString":3,"hasOwnProperty":4}');
    expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor', 'toString', 'hasOwnProperty']);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  test.each([
    ['an empty object', '{}', {}],
    ['blanks on every side', ' \t\r\n{ "a" : [ 1 , 2 ] }\n', { a: [1, 2] }],
    ['a byte order mark', '\ufeff{"a":1}', { a: 1 }],
    ['escaped quotes and backslashes', '{"a\\"":"\\\\","b\\\\":"\\\\\\"x"}', { 'a"': '\\', 'b\\': '\\"x' }],
    ['a pair of surrogate escapes', '{"a":"\\ud83d\\uDE00"}', { a: '\u{1f600}' }],
    ['an escaped backslash before u0000', '{"a":"\\\\u0000"}', { a: '\\u0000' }],
    ['an escaped backslash before ud800', '{"a":"\\\\ud800"}', { a: '\\ud800' }],
    ['every one-letter escape', '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t"}', { a: '"\\/\b\f\n\r\t' }],
    ['brackets and colons within strings', '{"a":"{[}]:,","{":"]"}', { a: '{[}]:,', '{': ']' }],
    ['empty arrays and objects', '{"a":[],"b":{},"c":[[],{}]}', { a: [], b: {}, c: [[], {}] }],
    ['a repeated key, the last of which counts', '{"a":1,"a":2}', { a: 2 }],
  ])('may have %s', (_, body, expected) => {
    expect(parse(body)).toEqual(expected);
  });

  test('may hold strings of any length, with quotes and escapes anywhere in them', () => {
    const position = fc.integer({ min: 0, max: 400 });
    const piece = fc.constantFrom('\\"', '\\\\', '\\n', '\\u00e9', '\\ud83d\\ude00', 'é');
    fc.assert(
      fc.property(fc.array(fc.tuple(position, piece), { maxLength: 6 }), (inserts) => {
        let string = 'x'.repeat(400);
        const inDescendingOrder = inserts.sort((a, b) => b[0] - a[0]);
        for (const [at, what] of inDescendingOrder) string = string.slice(0, at) + what + string.slice(at);
        const body = `{"${string}":"${string}","b":["${string}",1]}`;
        expect(parse(body)).toEqual(JSON.parse(body));
      }),
      { numRuns: 500 },
    );
  });

  test('may be large', () => {
    const data = 'QUJD'.repeat(7 * 2 ** 20);
    expect(parse(`{"data":"${data}","after":1}`)).toEqual({ data, after: 1 });
  });
});

describe('nesting', () => {
  test('is allowed to 32 levels, the outermost object being the first', () => {
    expect(() => parse(`{"a":${nested(31, '[', ']')}}`)).not.toThrow();
    expect(() => parse(`${'{"a":'.repeat(31)}{}${'}'.repeat(31)}`)).not.toThrow();
  });

  test('is refused from 33 levels on, naming the place', () => {
    expect(refusal(`{"a":${nested(32, '[', ']')}}`)).toBe(
      'The body is nested deeper than 32 levels, at byte 36.',
    );
    expect(refusal(`${'{"a":'.repeat(32)}{}${'}'.repeat(32)}`)).toMatch('nested deeper than 32 levels');
  });

  test.each([33, 100, 3_000, 1_000_000])('of %d levels is refused without overflowing', (levels) => {
    expect(refusal(`{"a":${nested(levels, '[', ']')}}`)).toMatch('nested deeper');
    expect(refusal('{"a":'.repeat(levels))).toMatch('nested deeper');
  });

  test('counts open levels, not brackets', () => {
    const siblings = `[${'[[]],'.repeat(1000)}[]]`;
    expect(parse(`{"a":${siblings}}`).a).toHaveLength(1001);
  });

  test('is tracked separately for arrays and objects at every level', () => {
    const kinds = fc.array(fc.boolean(), { minLength: 1, maxLength: 31 });
    fc.assert(
      fc.property(kinds, fc.nat(), (levels, seed) => {
        const opened = levels.map((isObject) => (isObject ? '{"k":' : '[')).join('');
        const closing = levels.map((isObject) => (isObject ? '}' : ']')).reverse();
        expect(() => parse(`{"a":${opened}1${closing.join('')}}`)).not.toThrow();
        const wrong = seed % closing.length;
        closing[wrong] = closing[wrong] === '}' ? ']' : '}';
        expect(refusal(`{"a":${opened}1${closing.join('')}}`)).toMatch('is not valid JSON: expected');
      }),
    );
  });
});

describe('the number of values', () => {
  const MANY = 50_000;
  /** The outermost object and its list are two. */
  const list = (count: number, one: string) => `{"a":[${Array(count).fill(one).join(',')}]}`;

  test.each(['1', '"x"', '[]', '{}', 'true', '-0.5e1', ' null '])(
    'is at most 50,000, each %s counted, and every list and object around them',
    (one) => {
      expect(parse(list(MANY - 2, one)).a).toHaveLength(MANY - 2);
      expect(refusal(list(MANY - 1, one))).toMatch(/^The body holds more than 50000 values, at byte \d+\.$/);
    },
  );

  test('counts the values of objects, and their keys apart, to 10,000', () => {
    const object = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
    expect(Object.keys(parse(object(10_000)))).toHaveLength(10_000);
    expect(refusal(object(10_001))).toMatch('The body holds more than 10000 keys, at byte');
    expect(refusal(list(10_001, '{"a":1}'))).toMatch('more than 10000 keys');
  });

  test('is checked before anything after the first value too many', () => {
    expect(refusal(`${list(MANY, '[]').slice(0, -2)},oops`)).toMatch('more than 50000 values');
  });
});

describe('what cannot be stored', () => {
  const place = fc.constantFrom(
    (s: string) => `{"a":"${s}"}`,
    (s: string) => `{"${s}":1}`,
    (s: string) => `{"a":{"b":["c","${s}"]}}`,
    (s: string) => `{"a":"${'x'.repeat(100)}\\n","b":"${s}${'y'.repeat(100)}"}`,
  );
  const plain = fc.constantFrom(
    '',
    'x',
    '\\\\',
    '\\"',
    'x'.repeat(63),
    'x'.repeat(64),
    'x'.repeat(300),
    '\\ud83d\\ude00',
  );

  const expectRefused = (bad: string, sentence: RegExp) =>
    fc.assert(
      fc.property(place, plain, plain, (put, before, after) => {
        expect(refusal(put(`${before}${bad}${after}`))).toMatch(sentence);
      }),
      { numRuns: 300 },
    );

  test('is a NUL written as an escape', () => expectRefused('\\u0000', /The escape for NUL at byte \d+/));

  test('is a raw NUL or any other raw control character in a string', () => {
    for (const raw of ['\0', '\x01', '\n', '\t', '\x1f']) {
      expectRefused(raw, /a string holds a raw control character at character \d+; write it as an escape/);
    }
  });

  test.each([
    '\\ud800',
    '\\uDBFF',
    '\\udc00',
    '\\uDFFF',
    '\\ude00\\ud83d',
    '\\udc00\\udc00',
    '\\ud800\\n',
    '\\ud800x',
    '\\ud800\\u0041',
  ])('is the lone surrogate in %s', (lone) => expectRefused(lone, /half of a surrogate pair/));

  test('is a high surrogate before a whole pair', () =>
    expectRefused('\\ud800\\ud83d\\ude00', /half of a surrogate/));

  test.each([[0xed, 0xa0, 0x80], [0xc3], [0xff], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]])(
    'are bytes that are not UTF-8 (%#)',
    (...bytes) => {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(refusal(body)).toBe('The body is not valid UTF-8.');
    },
  );
});

describe('numbers', () => {
  const number = (literal: string) => parse(`{"n":[${literal}]}`).n;

  test('are accepted up to ±(2^53−1) as integers and to the limits of a double otherwise', () => {
    const fine = [
      '0',
      '-0',
      '9007199254740991',
      '-9007199254740991',
      '0.1',
      '-1.5E+3',
      '1e0',
      '1e-7',
      '0e999',
      '-0.0',
    ];
    const limits = [
      '1.7976931348623157e308',
      '5e-324',
      `0.${'0'.repeat(300)}1`,
      `1${'0'.repeat(15)}.5`,
      '1e22',
      '0.1e1',
    ];
    for (const literal of [...fine, ...limits, '3.141592653589793238']) {
      expect(number(literal)).toEqual([Number(literal)]);
    }
  });

  test.each(['9007199254740992', '-9007199254740992', '9007199254740993', '1'.repeat(17), '9'.repeat(5000)])(
    'are refused as integers beyond that: %.20s',
    (literal) => {
      expect(refusal(`{"n":${literal}}`)).toMatch('The integer at byte 5 lies beyond ±9007199254740991');
      expect(refusal(`{"n":${literal}}`)).toMatch('send it as a string');
    },
  );

  test.each([`0.${'0'.repeat(1100)}1`, `1.${'5'.repeat(5000)}`])(
    'are refused when they have more than 1,100 characters: %.20s',
    (literal) =>
      expect(refusal(`{"n":${literal}}`)).toMatch('has more than 1100 characters; send it as a string'),
  );

  test.each(['1e999', '-1e999', '1e309', '1.8e308', `${'9'.repeat(400)}.0`, '1E+400'])(
    'are refused when too large: %.20s',
    (literal) => expect(refusal(`{"n":${literal}}`)).toMatch('too large for a double'),
  );

  test.each(['1e-999', '-4.9e-400', `0.${'0'.repeat(400)}1`, '1e-324'])(
    'are refused when too small: %.20s',
    (literal) => expect(refusal(`{"n":${literal}}`)).toMatch('too small for a double'),
  );

  test.each([
    '01',
    '-',
    '+1',
    '.5',
    '1.',
    '1.e1',
    '1e',
    '1e+',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '-Infinity',
    '--1',
  ])('are refused when malformed: %s', (literal) =>
    expect(refusal(`{"n":${literal}}`)).toMatch('is not valid JSON'),
  );

  test('of any size written in full are accepted exactly when they are safe', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
        fc.bigInt({ min: -5n, max: 5n }),
        (any, near) => {
          for (const integer of [any, 2n ** 53n + near, -(2n ** 53n) + near]) {
            const body = `{"n":${integer}}`;
            if (Number.isSafeInteger(Number(integer))) expect(parse(body)).toEqual({ n: Number(integer) });
            else expect(refusal(body)).toMatch('send it as a string');
          }
        },
      ),
    );
  });
});

describe('a malformed body', () => {
  test.each([
    ['', 'The body is empty; send a JSON object.'],
    ['\ufeff', 'The body is empty; send a JSON object.'],
    ['  ', 'The body has to be a JSON object: found the end at byte 2.'],
    ['[]', "The body has to be a JSON object: found '[' at byte 0."],
    ['"a"', "The body has to be a JSON object: found '\"' at byte 0."],
    ['null', "The body has to be a JSON object: found 'n' at byte 0."],
    ['12', "The body has to be a JSON object: found '1' at byte 0."],
    ['{"a":1', 'expected a comma or "}" at byte 6, found the end.'],
    ['{"a":1}}', 'expected nothing more at byte 7'],
    ['{"a":1}{}', 'expected nothing more at byte 7'],
    ['{"a":1,}', "expected a key in double quotes at byte 7, found '}'."],
    ['{"a":[1,]}', "expected a value at byte 8, found ']'."],
    ['{"a":[1}}', 'expected a comma or "]" at byte 7'],
    ["{'a':1}", "expected a key in double quotes or \"}\" at byte 1, found '''."],
    ['{"a" 1}', 'expected a colon at byte 5'],
    ['{"a":tru}', 'expected a value at byte 5'],
    ['{"a":nul', 'expected a value at byte 5'],
    ['{"a":True}', "expected a value at byte 5, found 'T'."],
    ['{"a":truex}', 'expected a comma or "}" at byte 9'],
    ['{"a":"b', 'expected the closing quote of the string from byte 5 at byte 7'],
    ['{"a":"b\\', 'after a backslash at byte 8, found the end.'],
    ['{"a":"\\x"}', "expected one of \"\\/bfnrtu after a backslash at byte 7, found 'x'."],
    ['{"a":"\\u12g4"}', "expected a hexadecimal digit at byte 10, found 'g'."],
    ['{"a":"\\ud83d\\u12"}', 'expected a hexadecimal digit at byte 16'],
    ['{"a":1 /* one */}', 'expected a comma or "}" at byte 7, found \'/\'.'],
    ['{"a":\u00a01}', 'expected a value at byte 5, found byte 0xc2.'],
    ['{"a":1}\0', 'expected nothing more at byte 7, found byte 0x00.'],
  ])('%j is refused saying what was expected and where', (body, sentence) => {
    expect(refusal(body)).toMatch(sentence);
  });

  test('is never quoted in the answer', () => {
    const canary = 'hunter2'.repeat(20);
    for (const body of [
      canary,
      `{"a":"${canary}\n"}`,
      `{"${canary}"}`,
      `{"a":${canary}}`,
      `{"a":"${canary}`,
    ]) {
      expect(refusal(body)).not.toMatch('hunter2');
      expect(refusal(body).length).toBeLessThan(200);
    }
  });

  function isJson(body: string): boolean {
    try {
      return JSON.parse(body) !== undefined;
    } catch {
      return false;
    }
  }

  test('is recognised exactly when JSON.parse refuses it, for any mixture of its characters', () => {
    const token = fc.constantFrom(
      ...'{}[]:,"\\ -+.eE0159ubx',
      'true',
      'null',
      '"a"',
      '"a":',
      '{"a":',
      '\\n',
      '\\u0041',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        const body = `{"a":${tokens.join('')}}`;
        fc.pre(!/e[+-]?\d{3}/i.test(body));
        if (isJson(body)) expect(parse(body)).toEqual(JSON.parse(body));
        else expect(refusal(body)).toMatch('is not valid JSON');
      }),
      { numRuns: 5000 },
    );
  });

  test('is refused whenever changing one byte of a valid body makes it invalid JSON', () => {
    fc.assert(
      fc.property(object, fc.nat(), fc.integer({ min: 1, max: 127 }), (json, seed, byte) => {
        const body = Buffer.from(JSON.stringify({ a: json }));
        body[seed % body.length] = byte;
        const refused = outcome(body);
        if (!isJson(body.toString())) expect(refused).not.toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  test('of random bytes never throws anything but BadRequest', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (bytes, wrapped) => {
        const body = wrapped
          ? Buffer.concat([Buffer.from('{"a":"'), bytes, Buffer.from('"}')])
          : Buffer.from(bytes);
        const refused = outcome(body);
        if (!isJson(body.toString())) expect(refused).not.toBeNull();
      }),
      { numRuns: 5000 },
    );
  });
});

describe('a large body', () => {
  const large = (tail: string) => Buffer.from(`{"data":"${'QUJD'.repeat(100_000)}"${tail}`);

  test('is parsed the same when it is read in steps, between which other work runs', async () => {
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    const bodies = await Promise.all(
      Array.from({ length: 20 }, async () => readJsonObject(large(',"n":1}'))),
    );
    clearInterval(counting);
    expect(bodies).toEqual(bodies.map(() => parseJsonObject(large(',"n":1}'))));
    expect(turns).toBeGreaterThan(2);
  });

  test.each(['é', '漢', '😀', 'a漢', '\\u6f22'])(
    'beyond ASCII (%s) is decoded in steps, wherever a step cuts its characters',
    async (unit) => {
      // The shift by one byte cuts each character at each of its bytes.
      for (const shift of ['', 'x', 'xx', 'xxx']) {
        const body = Buffer.from(`{"content":"${shift}${unit.repeat(4_500_000 / Buffer.byteLength(unit))}"}`);
        let turns = 0;
        let isRead = false;
        const count = (): void => {
          turns += 1;
          if (!isRead) setImmediate(count);
        };
        setImmediate(count);
        const read = await readJsonObject(body);
        isRead = true;
        expect(read.content === parseJsonObject(body).content).toBe(true);
        // One for each MiB, beside those that a body of any characters has.
        expect(turns).toBeGreaterThan(Math.ceil(body.length / 1_048_576));
      }
    },
  );

  test('is refused with the same sentence, and the bodies after it are read', async () => {
    const refused = readJsonObject(large(',"n":01}'));
    const behind = readJsonObject(large('}'));
    await expect(refused).rejects.toThrow(refusal(large(',"n":01}')));
    await expect(behind).resolves.toHaveProperty('data');
  });
});
