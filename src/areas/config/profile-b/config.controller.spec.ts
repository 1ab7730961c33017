import { tagMatcher } from './config.controller.js';

test.each([
  [undefined, true],
  ['*', true],
  ['"1-a"', true],
  ['"0-b", "1-a"', true],
  ['"0-b"', false],
  ['1-a', false],
  ['W/"1-a"', false],
  ['', false],
])('If-Match %j lets the tag "1-a" pass: %s', (header, passes) => {
  expect(tagMatcher(header)('"1-a"')).toBe(passes);
});
