import { setTimeout as sleep } from 'node:timers/promises';
import { Turnstile } from './turnstile.js';

test('one piece of work at a time, in the order of arrival, whatever failed before', async () => {
  const turnstile = new Turnstile(10);
  const order: string[] = [];
  const work = (name: string, ms: number) => () =>
    sleep(ms).then(() => {
      order.push(name);
      if (name === 'b') throw new Error('b failed');
      return name;
    });
  const results = await Promise.allSettled([
    turnstile.pass(work('a', 20)),
    turnstile.pass(work('b', 5)),
    turnstile.pass(work('c', 0)),
  ]);
  expect(order).toEqual(['a', 'b', 'c']);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('too many that wait are sent away, and there is room again afterwards', async () => {
  const turnstile = new Turnstile(2);
  let open: () => void = () => undefined;
  const first = turnstile.pass(() => new Promise<void>((resolve) => (open = resolve)));
  await sleep(0);
  const waiting = [1, 2].map((number) => turnstile.pass(() => Promise.resolve(number)));
  await expect(turnstile.pass(() => Promise.resolve(3))).rejects.toMatchObject({
    status: 503,
    retryAfterSecs: 1,
  });
  open();
  await first;
  expect(await Promise.all(waiting)).toEqual([1, 2]);
  expect(await turnstile.pass(() => Promise.resolve(4))).toBe(4);
});
