import fc from 'fast-check';
import { deleteAt, formatPath, mergeTables, parsePath, readAt, type Table, writeAt } from './dotted-path.js';

const unsafe = ['__proto__', 'constructor', 'prototype'];
const safeName = fc
  .oneof(
    fc.constantFrom('toString', 'valueOf', 'hasOwnProperty', 'a'),
    fc.string({ minLength: 1, maxLength: 8 }),
  )
  .filter((name) => !unsafe.includes(name));
const safePath = fc.array(safeName, { minLength: 1, maxLength: 16 });

describe('dotted paths', () => {
  test('splitting undoes joining', () => {
    fc.assert(fc.property(safePath, (path) => expect(parsePath(formatPath(path))).toEqual(path)));
  });

  test('a name with dots is quoted in dotted keys as in TOML', () => {
    const path = ['limits', 'users', 'https://login.example.com/|ada', 'daily_usd'];
    expect(formatPath(path)).toBe('limits.users."https://login.example.com/|ada".daily_usd');
    for (const quote of ['"', "'"])
      expect(parsePath(`limits.users.${quote}https://login.example.com/|ada${quote}.daily_usd`)).toEqual(
        path,
      );
    expect(parsePath('a."b\\"c.d"')).toEqual(['a', 'b"c.d']);
  });

  test.each([
    'a."b',
    'a."b"c',
    'a."\\x"',
    '"',
    'a."__proto__"',
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a.__proto__.b',
    'constructor',
    'a.prototype',
    Array(17).fill('a').join('.'),
  ])('%j is not a path', (dotted) => expect(parsePath(dotted)).toBeUndefined());

  test('what is written is read back, and gone once deleted', () => {
    const roundTrip = (path: string[], value: unknown) => {
      const tree: Table = {};
      writeAt(tree, path, value);
      expect(readAt(tree, path)).toBe(value);
      deleteAt(tree, path);
      expect(readAt(tree, path)).toBeUndefined();
    };
    fc.assert(fc.property(safePath, fc.anything(), roundTrip));
  });

  test('inherited properties are neither read nor followed', () => {
    expect(readAt({}, ['toString'])).toBeUndefined();
    expect(readAt({ a: {} }, ['a', '__proto__', 'hasOwnProperty'])).toBeUndefined();
  });

  test('no path and no tree reaches the prototype of objects', () => {
    const names = fc.oneof(safeName, fc.constantFrom(...unsafe));
    fc.assert(
      fc.property(fc.array(names, { minLength: 1, maxLength: 5 }), (path) => {
        const tree: Table = {};
        if (path.some((name) => unsafe.includes(name)))
          expect(() => writeAt(tree, path, 1)).toThrow(RangeError);
        else writeAt(tree, path, 1);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
    const hostile = JSON.parse('{"a": {"__proto__": {"polluted": true}}}') as Table;
    const merged = mergeTables([hostile, hostile]);
    expect(({} as Table).polluted).toBeUndefined();
    expect((merged.a as Table).polluted).toBeUndefined();
  });

  test('merging lets the second win and changes neither', () => {
    const base = { a: { x: 1, list: [1, 2] }, b: 1 };
    const merged = mergeTables([base, { a: { list: [3] }, b: { y: 2 } }]);
    expect(JSON.parse(JSON.stringify(merged))).toEqual({ a: { x: 1, list: [3] }, b: { y: 2 } });
    (merged.a as { x: number }).x = 9;
    expect(base).toEqual({ a: { x: 1, list: [1, 2] }, b: 1 });
  });
});
