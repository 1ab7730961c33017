import fc from 'fast-check';
import { type IdPrefix, IdSource, isId, newId } from './typeid.js';

const PREFIXES: IdPrefix[] = ['sess', 'msg', 'turn', 'hook', 'evt', 'tok', 'att', 'req', 'dlv'];
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The id's 128 bits as a UUID, computed the slow and obvious way. */
function uuidOf(id: string): string {
  const body = id.slice(id.indexOf('_') + 1);
  let bits = 0n;
  for (const char of body) bits = bits * 32n + BigInt(ALPHABET.indexOf(char));
  const hex = bits.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function timeOf(id: string): number {
  return Number.parseInt(uuidOf(id).replace('-', '').slice(0, 12), 16);
}

function mint(source: IdSource, count: number): string[] {
  return Array.from({ length: count }, () => source.next('sess'));
}

function expectRising(ids: string[]): void {
  for (let i = 1; i < ids.length; i++) {
    if (!((ids[i - 1] as string) < (ids[i] as string)))
      throw new Error(`${ids[i - 1]} is not before ${ids[i]}`);
  }
}

describe('newId', () => {
  test.each(PREFIXES)('makes a TypeID with the prefix %s that isId accepts', (prefix) => {
    const id = newId(prefix);
    expect(id).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
    expect(isId(prefix, id)).toBe(true);
  });

  test('carries a UUID of version 7 and the RFC variant with the time of its making', () => {
    const before = Date.now();
    const id = newId('sess');
    expect(uuidOf(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('reads the example of the TypeID specification', () => {
    expect(uuidOf('sess_01h455vb4pex5vsknk084sn02q')).toBe('01890a5d-ac96-774b-bcce-b302099a8057');
    expect(isId('sess', 'sess_01h455vb4pex5vsknk084sn02q')).toBe(true);
  });

  test('encodes any time up to 48 bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
        const id = new IdSource(() => ms).next('evt');
        expect(timeOf(id)).toBe(ms);
        expect(isId('evt', id)).toBe(true);
      }),
    );
  });

  test('sorts by text in the order of making within one millisecond', () => {
    const ids = mint(new IdSource(() => 1_700_000_000_000), 20_000);
    expectRising(ids);
    expect(ids.every((id) => isId('sess', id))).toBe(true);
  });

  test('sorts by text in the order of making while the clock jumps back and forth', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2 ** 40 }), { minLength: 2, maxLength: 50 }),
        (clock) => {
          const readings = [...clock];
          expectRising(mint(new IdSource(() => readings.shift() ?? 1), clock.length * 2));
        },
      ),
    );
  });

  test('goes to the next millisecond when the counter of one is used up', () => {
    const source = new IdSource(
      () => 1000,
      (words) => words.fill(0xffff_ffff),
    );
    const first = source.next('sess');
    // 0x7ff_ffffffff steps cannot be walked; set the counter near its end instead.
    Object.assign(source, { high: 0xfff, low: 0xffff_fffe });
    const ids = mint(source, 3);
    expectRising([first, ...ids]);
    expect(ids.map(timeOf)).toEqual([1000, 1001, 1001]);
  });

  test('carries from the lower to the upper part of the counter in order', () => {
    const source = new IdSource(() => 1000);
    const first = source.next('sess');
    Object.assign(source, { high: 0x800, low: 0xffff_fffe });
    const ids = mint(source, 4);
    expectRising([first, ...ids]);
    expect(ids.map(timeOf)).toEqual([1000, 1000, 1000, 1000]);
  });

  test('fetches new random bytes when the batch is used up', () => {
    let batches = 0;
    const source = new IdSource(
      () => 1000,
      (words) => words.fill(++batches),
    );
    mint(source, 3000);
    expect(batches).toBe(3);
  });

  test('two sources never make the same id in one millisecond', () => {
    const clock = () => 1_700_000_000_000;
    const both = [...mint(new IdSource(clock), 1000), ...mint(new IdSource(clock), 1000)];
    expect(new Set(both).size).toBe(2000);
  });
});

describe('isId', () => {
  const good = newId('sess');

  test('refuses another prefix, another length, upper case and surrounding blanks', () => {
    const body = good.slice(5);
    const wrong = [
      `msg_${body}`,
      body,
      `sess_${body}0`,
      good.slice(0, -1),
      good.toUpperCase(),
      ` ${good}`,
      `${good}\n`,
    ];
    for (const text of [...wrong, `sess-${body}`, '', 'sess_']) expect(isId('sess', text)).toBe(false);
  });

  test.each(['i', 'l', 'o', 'u', '_', '-', '%', "'", '\0'])('refuses the character %j', (char) => {
    expect(isId('sess', `${good.slice(0, -1)}${char}`)).toBe(false);
  });

  test('refuses more than 128 bits, another version and another variant', () => {
    expect(isId('sess', 'sess_81h455vb4pex5vsknk084sn02q')).toBe(false);
    expect(isId('sess', 'sess_01h455vb4pdx5vsknk084sn02q')).toBe(false);
    expect(isId('sess', 'sess_01h455vb4pex5cknnk084sn02q')).toBe(false);
  });

  test('accepts exactly the bodies that are a UUIDv7', () => {
    const body = fc
      .array(fc.constantFrom(...ALPHABET), { minLength: 26, maxLength: 26 })
      .map((c) => c.join(''));
    fc.assert(
      fc.property(body, (text) => {
        const isV7 = text < '8' && /^.{14}7.{4}[89ab]/.test(uuidOf(`x_${text}`));
        expect(isId('sess', `sess_${text}`)).toBe(isV7);
      }),
      { numRuns: 2000 },
    );
  });
});
