import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { signalWithin } from './signal-within.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const reasonOf = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

test('it aborts in time though nothing else references it, even after garbage collection', async () => {
  const outer = new AbortController();
  const all = Array.from({ length: 20 }, () => reasonOf(signalWithin(300, outer.signal)));
  for (let n = 0; n < 5; n += 1) {
    await sleep(20);
    collectGarbage();
  }
  const names = (await Promise.all(all)).map((reason) => (reason as Error).name);
  expect(names).toEqual(Array(20).fill('TimeoutError'));
});

test('it aborts with the other signal, for its reason', async () => {
  const outer = new AbortController();
  const reason = reasonOf(signalWithin(60_000, outer.signal));
  outer.abort('over');
  expect(await reason).toBe('over');
  expect(signalWithin(60_000, outer.signal).aborted).toBe(true);
});
