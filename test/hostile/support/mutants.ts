import { LONG } from './hostile-gateway.js';

/** A body that was sound, and what was done to it. */
export interface Mutant {
  readonly what: string;
  /** JSON, or nearly. */
  readonly text: string;
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** What no field was made for, as it stands in JSON. */
const VALUES: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1', '0.5', '1e308', '-1e308', '5e-324', '1e999', '-1e999'],
  ...['2147483648', '9007199254740991', '9007199254740993', '9'.repeat(400), `0.${'1'.repeat(400)}`],
  ...['""', '" "', '"x"', '"0"', '"null"', '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"'],
  ...[
    '"\\u202e\\u2028\\ufeff"',
    '"\\ud83d\\ude00"',
    '"\\r\\n\\r\\nx: y"',
    '"\\u001b[2J"',
    '"%00"',
    '"../../etc/passwd"',
  ],
  ...[
    '"__proto__"',
    '"constructor"',
    '"toString"',
    '"[object Object]"',
    `"' OR 1=1 --"`,
    '"$' + '{jndi:ldap://x}"',
  ],
  ...[
    `"${LONG}"`,
    `"${'é'.repeat(20_000)}"`,
    '"9999-99-99T99:99:99Z"',
    '"+275760-09-13T00:00:00.001Z"',
    '"http://["',
  ],
  ...['[]', '{}', '[[]]', '[null]', '[{}]', '[""]', '{"":{}}', '{"a":1}', `[${'0,'.repeat(5000)}0]`],
  ...[
    '{"__proto__":{"isAdmin":true}}',
    '{"constructor":{"prototype":{"isAdmin":true}}}',
    '{"toJSON":"x","then":"x"}',
  ],
  ...[nested(20), nested(60), nested(3000), '{"a":'.repeat(3000)],
];
/** Beside what an object has. */
const MEMBERS: readonly string[] = [
  ...[
    '"__proto__":{"isAdmin":true}',
    '"constructor":{"prototype":{"isAdmin":true}}',
    '"prototype":1',
    '"toString":"x"',
  ],
  ...[
    '"then":"x"',
    '"toJSON":"x"',
    '"":1',
    '"no_such_field":1',
    '"hasOwnProperty":null',
    `"${'kQ'.repeat(100)}":1`,
    '"\\u0000":1',
  ],
];

/** Every value of a sound body replaced, left out and doubled, and every object with one member more. */
export function mutantsOf(sound: unknown): Mutant[] {
  return placesIn(sound, '').flatMap(({ path, value }) => {
    const made = (what: string, change: Omit<Change, 'path'>): Mutant => ({
      what: `${path || 'the body'}: ${what.slice(0, 60)}`,
      text: written(sound, { path, ...change }),
    });
    const replaced = VALUES.map((text) => made(text, { text }));
    const left = path === '' ? [] : [made('left out', { isGone: true })];
    if (Array.isArray(value))
      return [
        ...replaced,
        ...left,
        made('many times', {
          text: `[${Array(300)
            .fill(JSON.stringify(value[0] ?? 0))
            .join()}]`,
        }),
      ];
    if (typeof value !== 'object' || value === null) return [...replaced, ...left];
    const twice = Object.entries(value).flatMap(([name, one]) =>
      [JSON.stringify(one), 'null', '{}'].map((text) => `${JSON.stringify(name)}:${text}`),
    );
    return [...replaced, ...left, ...[...MEMBERS, ...twice].map((more) => made(`and ${more}`, { more }))];
  });
}

interface Change {
  readonly path: string;
  readonly text?: string;
  readonly more?: string;
  readonly isGone?: boolean;
}

function placesIn(value: unknown, path: string): { path: string; value: unknown }[] {
  const parts = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [{ path, value }, ...parts.flatMap(([name, part]) => placesIn(part, `${path}/${name}`))];
}

function written(value: unknown, change: Change, path = ''): string {
  const isHere = path === change.path;
  if (isHere && change.text !== undefined) return change.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).filter(
    ([name]) => change.isGone !== true || `${path}/${name}` !== change.path,
  );
  const texts = parts.map(([name, part]) => [name, written(part, change, `${path}/${name}`)] as const);
  if (Array.isArray(value)) return `[${texts.map(([, text]) => text).join()}]`;
  const members = texts.map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${[...members, ...(isHere && change.more !== undefined ? [change.more] : [])].join()}}`;
}

/** `HOSTILE_RUNS` for all; otherwise so many, drawn by a seed that `HOSTILE_SEED` repeats. */
export function sampled<Item>(all: readonly Item[], count: number): Item[] {
  if (process.env['HOSTILE_RUNS'] !== undefined || all.length <= count) return [...all];
  const drawn = all.map((item) => ({ item, place: random() }));
  return drawn
    .sort((one, other) => one.place - other.place)
    .slice(0, count)
    .map(({ item }) => item);
}

/** For the message of a failure. */
export const SEED = Number(process.env['HOSTILE_SEED'] ?? Date.now() % 1_000_000);
let state = SEED;

/** Mulberry32. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
