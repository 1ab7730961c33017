import { storableJson, storableText } from './storable-text.js';

test('text keeps everything except NUL and lone surrogates', () => {
  expect(storableText('a\0b \ud83d\ude00 \ud83d')).toBe('ab \u{1F600} \ufffd');
});

test('JSON keeps its names, at every depth', () => {
  const value = { 'na\0me': ['\0', 1, null, true, { '\udc00': 'a\ud800' }], same: { ключ: '\u{1F600}' } };
  expect(storableJson(value)).toEqual({
    name: ['', 1, null, true, { '\ufffd': 'a\ufffd' }],
    same: { ключ: '\u{1F600}' },
  });
});

test('a name that every object inherits stays a name', () => {
  const value = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as object;
  expect(JSON.stringify(storableJson(value))).toBe('{"__proto__":{"a":1},"constructor":2}');
});
