import { ArgumentChecks } from './argument-check.js';

const checks = new ArgumentChecks();
const DIALECTS = ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema'];
const TOO_LONG = 'the schema of this tool takes too long to check them';

describe.each(DIALECTS)('arguments against a schema of %s', ($schema) => {
  test('are right, or it is said what is wrong', () => {
    const { problem } = checks.compile({
      $schema,
      type: 'object',
      properties: { name: { type: 'string', pattern: '^[a-z]+$' } },
      required: ['name'],
    });
    expect(problem({ name: 'ada' })).toBeUndefined();
    expect(problem({ name: 'ADA' })).toBe('data/name must match pattern "^[a-z]+$"');
    expect(problem({})).toBe("data must have required property 'name'");
  });

  test('hold nobody up with a pattern that goes back and forth for ever', () => {
    const { problem } = checks.compile({ $schema, properties: { name: { pattern: '^(a+)+$' } } });
    const startedAt = performance.now();
    expect(problem({ name: `${'a'.repeat(36)}!` })).toBe(TOO_LONG);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(problem({ name: 'aaa' })).toBeUndefined();
  });

  test('hold nobody up with references that branch at every step', () => {
    const steps = Array.from({ length: 60 }, (_, step) => [
      `s${step}`,
      { allOf: [1, 2].map(() => ({ $ref: `#/definitions/s${step + 1}` })) },
    ]);
    const definitions = { ...(Object.fromEntries(steps) as object), s60: { type: 'object' } };
    const { problem } = checks.compile({ $schema, definitions, $ref: '#/definitions/s0' });
    expect(problem({})).toBe(TOO_LONG);
  });

  test('hold nobody up with a large part that is referred to many times', () => {
    const many = <Value>(value: Value) =>
      Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`p${at}`, value]));
    const definitions = { large: { properties: many({ type: 'string' }) } };
    const startedAt = performance.now();
    const { problem } = checks.compile({
      $schema,
      definitions,
      properties: many({ $ref: '#/definitions/large' }),
    });
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(problem({ p7: { p8: 1 } })).toBe('data/p7/p8 must be string');
  });
});
