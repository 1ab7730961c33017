import { setTimeout as sleep } from 'node:timers/promises';
import { SerialQueue } from './serial-queue.js';

test('one piece of work at a time, in the order of arrival, whatever failed before', async () => {
  const queue = new SerialQueue(10);
  const order: string[] = [];
  const work = (name: string, ms: number) => () =>
    sleep(ms).then(() => {
      order.push(name);
      if (name === 'b') throw new Error('b failed');
      return name;
    });
  const results = await Promise.allSettled([
    queue.run(work('a', 20)),
    queue.run(work('b', 5)),
    queue.run(work('c', 0)),
  ]);
  expect(order).toEqual(['a', 'b', 'c']);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('too many that wait are refused, and there is room again afterwards', async () => {
  const queue = new SerialQueue(2);
  let open: () => void = () => undefined;
  const first = queue.run(() => new Promise<void>((resolve) => (open = resolve)));
  await sleep(0);
  const waiting = [1, 2].map((number) => queue.run(() => Promise.resolve(number)));
  await expect(queue.run(() => Promise.resolve(3))).rejects.toMatchObject({
    status: 503,
    retryAfterSecs: 1,
  });
  open();
  await first;
  expect(await Promise.all(waiting)).toEqual([1, 2]);
  expect(await queue.run(() => Promise.resolve(4))).toBe(4);
});
