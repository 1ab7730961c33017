import { jsonLine, jsonText } from './terminal-text.js';

test('JSON has nothing that controls a terminal, and says the same', () => {
  const value = { name: 'a\u001b[31m\u007f\u009b\u200f\u2028\u202e\u2066é👩‍🚀' };
  for (const text of [jsonText(value), jsonLine(value)]) {
    expect(text).toContain('a\\u001b[31m\\u007f\\u009b\\u200f\\u2028\\u202e\\u2066é👩‍🚀');
    expect(JSON.parse(text)).toEqual(value);
  }
  expect(jsonLine({ a: [1] })).toBe('{"a":[1]}\n');
});
