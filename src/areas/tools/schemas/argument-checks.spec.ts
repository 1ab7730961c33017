import { ArgumentChecks } from './argument-checks.js';

const checks = new ArgumentChecks();
afterAll(() => checks.onModuleDestroy());

const DIALECTS = ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema'];

describe.each(DIALECTS)('values against a schema of %s', ($schema) => {
  test('are valid, or the error says what is wrong', async () => {
    const { verify, problem } = checks.of({
      $schema,
      type: 'object',
      properties: { name: { type: 'string', pattern: '^[a-z]+$' } },
      required: ['name'],
    });
    expect(await verify()).toBeUndefined();
    expect(await problem({ name: 'ada' })).toBeUndefined();
    expect(await problem({ name: 'ADA' })).toBe('data/name must match pattern "^[a-z]+$"');
    expect(await problem({})).toBe("data must have required property 'name'");
  });
});

test.each([
  ['a type that there is not', { type: 'text' }, 'its schema cannot be used: schema is invalid'],
  [
    'a reference that leads nowhere',
    { $ref: '#/nowhere' },
    "its schema cannot be used: can't resolve reference",
  ],
  ['more bytes than 128 KiB', { description: 'x'.repeat(131_072) }, 'its schema has more than 131072 bytes'],
  [
    'more values than 20,000',
    { enum: Array.from({ length: 20_001 }, (_, at) => at) },
    'more than 20000 values',
  ],
  [
    'more than 64 levels',
    Array.from({ length: 40 }).reduce<object>((inner) => ({ properties: { inner } }), {}),
    'nested more than 64 levels deep',
  ],
])('a schema with %s is refused', async (_what, schema, problem) => {
  const check = checks.of(schema as Record<string, unknown>);
  expect(await check.verify()).toContain(problem);
  expect(await check.verify()).toContain(problem);
  expect(await check.problem({})).toContain(problem);
});

test('a check that no one waits for any more is not made', async () => {
  const { problem } = checks.of({ type: 'object' });
  const enough = new Error('enough');
  await expect(problem({}, AbortSignal.abort(enough))).rejects.toBe(enough);
});
