import { setTimeout as sleep } from 'node:timers/promises';
import { CollectedOutput, consoleLines } from './console-output.js';
import { LEVEL_RANKS } from './logger.js';

const json =
  '{"level":"warn","timestamp":"2026-03-01T12:34:56.789Z","module":"agent::turn","session_id":"sess_1","message":"slow"}\n';

function shown(format: 'auto' | 'json' | 'pretty', isTerminal: boolean): string {
  let text = '';
  consoleLines(format, isTerminal, (written) => {
    text += written;
  })(json, LEVEL_RANKS.warn);
  return text;
}

test('auto is pretty on a terminal, with colours, and JSON otherwise', () => {
  expect(shown('auto', true)).toContain('\u001b[33mWARN \u001b[0m');
  expect(shown('auto', false)).toBe(json);
  expect(shown('json', true)).toBe(json);
});

test('pretty outside a terminal has no colours', () => {
  expect(shown('pretty', false)).toBe('12:34:56.789 WARN  agent::turn slow session_id=sess_1\n');
});

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

test('the lines of one moment are written together and in order, before those of the next', async () => {
  output.add('a\n', info);
  output.add('b\n', info);
  expect(writes).toEqual([]);
  await written(2);
  expect(writes).toEqual(['a\nb\n']);
  output.add('c\n', info);
  await written(3);
  expect(writes).toEqual(['a\nb\n', 'c\n']);
});

test('a warning is written before the call returns, with everything that waited', async () => {
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

test('flush writes the lines that wait, and nothing when there are none', () => {
  output.add('a\n', info);
  output.flush();
  output.flush();
  expect(writes).toEqual(['a\n']);
});
