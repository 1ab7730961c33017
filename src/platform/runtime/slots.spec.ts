import { Slots } from './slots.js';

/** Whether it is there by now. */
async function isSettled(one: Promise<unknown>): Promise<boolean> {
  const nothing = Symbol('nothing');
  const settled = one.catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([settled, Promise.resolve(nothing)])) !== nothing;
}

test('as many as there are slots run at once, and the others in order', async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3].map((n) =>
    slots.run(() => {
      begun.push(n);
      return new Promise<number>((resolve) => ends.push(() => resolve(n)));
    }),
  );
  for (let n = 0; n < 4; n += 1) {
    expect(await isSettled(all[n] as Promise<number>)).toBe(false);
    expect(begun).toEqual([0, 1, 2, 3].slice(0, n + 2));
    ends[n]?.();
    expect(await all[n]).toBe(n);
  }
});

test('work that fails releases its slot', async () => {
  const slots = new Slots(1);
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(() => Promise.resolve('next'))).toBe('next');
});

test('a caller that no longer waits blocks no one, and takes no slot', async () => {
  const slots = new Slots(1);
  const giveBack = await slots.take();
  const gone = new AbortController();
  const impatient = slots.take(gone.signal);
  const patient = slots.take();
  gone.abort(new Error('gone'));
  await expect(impatient).rejects.toThrow('gone');
  expect(await isSettled(patient)).toBe(false);
  giveBack();
  (await patient)();
  await expect(slots.take(gone.signal)).rejects.toThrow('gone');
  expect(await slots.run(() => Promise.resolve('free'))).toBe('free');
});

test('a slot that is released twice is there once', async () => {
  const slots = new Slots(1);
  const giveBack = await slots.take();
  giveBack();
  giveBack();
  await slots.take();
  expect(await isSettled(slots.take())).toBe(false);
});
