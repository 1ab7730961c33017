import { ArgumentChecks } from '../../src/areas/tools/schemas/argument-checks.js';
import { SchemaQueue } from '../../src/areas/tools/schemas/schema-queue.js';

/** Gives up on what takes too long in half the time. */
class ImpatientChecks extends ArgumentChecks {
  protected override readonly slow = new SchemaQueue({ compileMs: 10_000, checkMs: 1000 });
}

const checks = new ImpatientChecks();
afterAll(() => checks.onModuleDestroy());

const DIALECTS = ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema'];
const TOO_LONG = 'the schema of this tool takes too long to check them';
const many = <Value>(count: number, value: (at: number) => Value) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, value(at)]));

/** The longest time for which nothing else ran while this did, as a share of the time that it took. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let longest = 0;
  let last = startedAt;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 2);
  await work();
  clearInterval(timer);
  const now = performance.now();
  return Math.max(longest, now - last) / (now - startedAt);
}

describe.each(DIALECTS)('values against a schema of %s', ($schema) => {
  test('hold no one up with a pattern that backtracks forever', async () => {
    const { problem } = checks.of({ $schema, properties: { name: { pattern: '^(a+)+$' } } });
    const longest = await longestBlock(async () =>
      expect(await problem({ name: `${'a'.repeat(36)}!` })).toBe(TOO_LONG),
    );
    expect(longest).toBeLessThan(0.5);
    expect(await problem({ name: 'aaa' })).toBeUndefined();
  });

  test('hold no one up with references that branch at every step', async () => {
    const steps = Array.from({ length: 60 }, (_, step) => [
      `s${step}`,
      { allOf: [1, 2].map(() => ({ $ref: `#/definitions/s${step + 1}` })) },
    ]);
    const definitions = { ...(Object.fromEntries(steps) as object), s60: { type: 'object' } };
    const { problem } = checks.of({ $schema, definitions, $ref: '#/definitions/s0' });
    expect(await problem({})).toBe(TOO_LONG);
  });

  test('hold no one up with a large part that is referenced many times', async () => {
    const definitions = { large: { properties: many(400, () => ({ type: 'string' })) } };
    const { problem } = checks.of({
      $schema,
      definitions,
      properties: many(400, () => ({ $ref: '#/definitions/large' })),
    });
    expect(await problem({ p7: { p8: 1 } })).toBe('data/p7/p8 must be string');
  });
});

test('a schema of the largest allowed size is compiled while everything else continues', async () => {
  const anyOf = (at: number) => ({
    anyOf: [{ type: 'string' }, { type: 'integer', minimum: at }, { type: 'null' }],
  });
  const schema = { type: 'object', properties: many(900, anyOf) };
  const { verify, problem } = checks.of(schema);
  const longest = await longestBlock(async () => expect(await verify()).toBeUndefined());
  expect(longest).toBeLessThan(0.5);
  expect(await problem({ p1: true })).toContain('data/p1 must be string');
});

test('only those wait for a slow schema who asked for it again', async () => {
  const slow = checks.of({ properties: { name: { pattern: '^(a|a)+$' } } });
  const quick = checks.of({ properties: { name: { type: 'string' } } });
  const endless = { name: `${'a'.repeat(40)}!` };
  expect(await slow.problem(endless)).toBe(TOO_LONG);
  const order: string[] = [];
  await quick.verify();
  const again = slow.problem(endless).then(() => order.push('slow'));
  await quick.problem({ name: 'ada' }).then(() => order.push('quick'));
  await again;
  expect(order).toEqual(['quick', 'slow']);
});
