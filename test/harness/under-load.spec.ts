import { setTimeout as sleep } from 'node:timers/promises';
import { underLoad } from './under-load.js';

/** Counts until it is told to stop. */
function load() {
  const seen = { rounds: 0, ends: 0 };
  const run = (isOver: () => boolean) => [
    (async () => {
      for (; !isOver(); seen.rounds += 1) await sleep(1);
      seen.ends += 1;
    })(),
  ];
  return { seen, run };
}

test('the load runs beside the work, and is over when the work is', async () => {
  const { seen, run } = load();
  const result = await underLoad(run, async () => {
    while (seen.rounds < 3) await sleep(1);
    return 'done';
  });
  expect([result, seen.ends]).toEqual(['done', 1]);
});

test('work that fails ends the load, and is what the caller is told', async () => {
  const { seen, run } = load();
  const failing = () => Promise.reject(new Error('the work failed'));
  await expect(underLoad(run, failing)).rejects.toThrow('the work failed');
  expect(seen.ends).toBe(1);
});

test('a load that fails is told when the work is done', async () => {
  const broken = () => [Promise.reject(new Error('the load failed'))];
  await expect(underLoad(broken, () => sleep(1))).rejects.toThrow('the load failed');
});
