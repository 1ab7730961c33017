import { setTimeout as sleep } from 'node:timers/promises';
import { CollectedOutput } from './collected-output.js';
import { LEVEL_RANKS } from './log-level.js';

const { info, warn } = LEVEL_RANKS;

let writes: string[];
let output: CollectedOutput;
beforeEach(() => {
  writes = [];
  output = new CollectedOutput((text) => writes.push(text));
});

/** Until nothing that was taken can wait any longer. */
async function written(lines: number): Promise<void> {
  while (writes.join('').split('\n').length <= lines) await sleep(1);
}

test('the lines of a moment are written at once and in their order, and those of the next one after it', async () => {
  output.add('a\n', info);
  output.add('b\n', info);
  expect(writes).toEqual([]);
  await written(2);
  expect(writes).toEqual(['a\nb\n']);
  output.add('c\n', info);
  await written(3);
  expect(writes).toEqual(['a\nb\n', 'c\n']);
});

test('a warning leaves before the call returns, with everything that waited', async () => {
  output.add('a\n', info);
  output.add('b\n', warn);
  expect(writes).toEqual(['a\nb\n']);
  output.add('c\n', info);
  await written(3);
  expect(writes).toEqual(['a\nb\n', 'c\n']);
});

test('64 KiB do not wait', () => {
  for (let n = 0; n < 64; n += 1) output.add(`${'x'.repeat(1023)}\n`, info);
  expect(writes).toHaveLength(1);
});

test('flush writes what waits, and nothing when nothing does', () => {
  output.add('a\n', info);
  output.flush();
  output.flush();
  expect(writes).toEqual(['a\n']);
});
