import { BadQuestion, contentProblem, formOf, withFallbacks } from './question-form.js';

const form = (properties: object, required: string[] = []) =>
  formOf({ type: 'object', properties, required });

test.each<[string, object, unknown, string | undefined]>([
  ['a text', { type: 'string', maxLength: 3 }, 'abc', undefined],
  ['a long text', { type: 'string', maxLength: 3 }, 'abcd', '"it" must have 0 to 3 characters'],
  ['a number for a text', { type: 'string' }, 3, '"it" must be a text'],
  ['a number', { type: 'number', minimum: -1 }, -0.5, undefined],
  ['a small number', { type: 'number', minimum: -1, maximum: 2 }, -2, '"it" must be from -1 to 2'],
  ['no whole number', { type: 'integer' }, 1.5, '"it" must be a whole number'],
  ['NaN', { type: 'number' }, Number.NaN, '"it" must be a number'],
  ['a yes', { type: 'boolean' }, true, undefined],
  ['a word for a yes', { type: 'boolean' }, 'yes', '"it" must be true or false'],
  ['a choice', { type: 'string', enum: ['a', 'b'] }, 'b', undefined],
  ['no choice', { type: 'string', enum: ['a', 'b'] }, 'c', '"it" must be one of a, b'],
  ['a titled choice', { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, 'a', undefined],
  ['choices', { type: 'array', maxItems: 1, items: { type: 'string', enum: ['a', 'b'] } }, ['a'], undefined],
  [
    'too many choices',
    { type: 'array', maxItems: 1, items: { anyOf: [{ const: 'a' }, { const: 'b' }] } },
    ['a', 'b'],
    '"it" must be a list of 0 to 1',
  ],
])('%s', (_what, field, value, problem) => {
  expect(contentProblem(form({ it: field }), { it: value })).toBe(problem);
});

test('required values must be there, unless they have a default; nothing else may be', () => {
  const asked = form({ day: { type: 'string' }, seats: { type: 'integer', default: 2 } }, ['day', 'seats']);
  expect(withFallbacks(asked, { day: 'x' })).toEqual({ day: 'x', seats: 2 });
  expect(contentProblem(asked, withFallbacks(asked, {}))).toBe('"day" is missing');
  expect(contentProblem(asked, { day: 'x', seats: 1, constructor: 1 })).toBe(
    '"constructor" is not asked for',
  );
});

test.each([
  ['an object in it', { it: { type: 'object' } }],
  ['a list of anything', { it: { type: 'array', items: { type: 'string' } } }],
  ['no type', { it: {} }],
  ['101 options', { it: { type: 'string', enum: Array.from({ length: 101 }, String) } }],
  ['a large schema', { it: { type: 'string', description: 'x'.repeat(20_000) } }],
])('a schema with %s cannot be asked of people', (_what, properties) => {
  expect(() => form(properties)).toThrow(BadQuestion);
});
