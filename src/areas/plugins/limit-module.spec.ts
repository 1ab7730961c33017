import { i32, writtenModule } from '../../../test/harness/written-module.js';
import { limitModule, MEMORY_NAME, uleb } from './limit-module.js';

const MIB = 1_048_576;
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const section = (id: number, ...content: number[]): number[] => [id, ...uleb(content.length), ...content];
const limit = (...sections: number[][]): Uint8Array =>
  limitModule(Uint8Array.from([...HEADER, ...sections.flat()]), 2 * MIB);

const act = { describe: { type: '>i', code: i32(0) } } as const;

test('a module behaves as before, with a maximum and an export name for its memory', () => {
  const module = new WebAssembly.Module(limitModule(writtenModule({ functions: act }), 2 * MIB));
  const { exports } = new WebAssembly.Instance(module, {});
  expect((exports['describe'] as () => number)()).toBe(0);
  const memory = exports[MEMORY_NAME] as WebAssembly.Memory & { grow(pages: number): number };
  expect(memory.grow(31)).toBe(1);
  expect(() => memory.grow(1)).toThrow('Maximum memory size exceeded');
});

test('a smaller maximum of its own stays, a larger one does not, and custom sections are dropped', () => {
  expect(limit(section(0, 1, 0x78), section(5, 1, 1, 1, 4))).toEqual(
    Uint8Array.from([...HEADER, ...section(5, 1, 1, 1, 4)]),
  );
  expect(limit(section(5, 1, 1, 1, 100))).toEqual(Uint8Array.from([...HEADER, ...section(5, 1, 1, 1, 32)]));
  expect(limit(section(5, 0))).toEqual(Uint8Array.from([...HEADER, ...section(5, 0)]));
});

test('tables get a maximum too', () => {
  const table = section(4, 1, 0x70, 0, 5);
  expect(limit(table)).toEqual(Uint8Array.from([...HEADER, ...section(4, 1, 0x70, 1, 5, ...uleb(65_536))]));
});

test.each<[string, number[], string]>([
  ['two memories', section(5, 2, 0, 1, 0, 1), 'more than one memory'],
  [
    'more memory than it may have',
    section(5, 1, 0, 33),
    'asks for 3 MiB at its start, and its limit is 2 MiB',
  ],
  ['shared memory', section(5, 1, 3, 1, 1), 'shared or 64-bit memory'],
  ['nine tables', section(4, 9), 'more than 8 tables'],
  ['a table of references to the host', section(4, 1, 0x6f, 0, 1), 'something other than functions'],
  ['a table that is too large', section(4, 1, 0x70, 0, ...uleb(65_537)), 'a table of 65537 entries'],
  ['a section that is cut off', [5, 10, 1], 'the module ends too early'],
  ['content that is cut off', section(5, 1), 'the module ends too early'],
  ['a number that does not end', [5, 0x80, 0x80, 0x80, 0x80, 0x80, 0], 'a number that is too long'],
])('%s: the module is refused', (_what, bytes, reason) => {
  expect(() => limit(bytes)).toThrow(reason);
});

test('a file that is not a module is refused', () => {
  expect(() => limitModule(Buffer.from('#!/bin/sh'), MIB)).toThrow('not a core WebAssembly module');
});
