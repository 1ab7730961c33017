import { parseToolArguments } from './tool-arguments.js';

const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

test.each([
  ['', {}],
  ['  ', {}],
  ['{"a":[1]}', { a: [1] }],
  [nested(64), JSON.parse(nested(64)) as object],
])('arguments written as %j', (text, expected) => {
  expect(parseToolArguments(text)).toEqual({ arguments: expected });
});

test.each([
  ['{', 'The arguments are not valid JSON.'],
  ['[1]', 'The arguments are not a JSON object.'],
  ['null', 'The arguments are not a JSON object.'],
  [nested(65), 'The arguments are nested too deeply.'],
  [`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'The arguments are nested too deeply.'],
])('not arguments: %.20j', (text, problem) => {
  expect(parseToolArguments(text)).toEqual({ arguments: {}, problem });
});
