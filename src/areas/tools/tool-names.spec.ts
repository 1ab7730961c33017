import { isAmong } from '../../common/text/name-pattern.js';
import { safeToolName } from './tool-names.js';

test('a name that is already safe stays as it is', () => {
  expect(safeToolName('files', 'read_file')).toBe('files__read_file');
});

test('a name that was cleaned or cut gets a part of its hash, so that no two tools share a name', () => {
  const names = [
    safeToolName('files', 'read file'),
    safeToolName('files', 'read.file'),
    safeToolName('files', `${'a'.repeat(80)}1`),
    safeToolName('files', `${'a'.repeat(80)}2`),
    safeToolName('files', '读取'),
    safeToolName('files', ''),
  ];
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(names[0]).toMatch(/^files__read_file_[0-9a-f]{8}$/);
});

test.each([
  ['read_file', ['*'], true],
  ['read_file', [], false],
  ['read_file', ['read_*'], true],
  ['read_file', ['*_file'], true],
  ['read_file', ['r*d*e'], true],
  ['read_file', ['*x*'], false],
  ['read_file', ['read'], false],
  ['read_file', ['write', 'read_file'], true],
  ['aba', ['ab*ba'], false],
  ['a.c', ['a?c'], false],
  ['abc', ['a.c'], false],
] as const)('whether "%s" is among %j is %s', (name, patterns, expected) => {
  expect(isAmong(name, patterns)).toBe(expected);
});

test('a pattern of many stars is not slow', () => {
  expect(isAmong('a'.repeat(5000), [`${'a*'.repeat(60)}b`])).toBe(false);
});
