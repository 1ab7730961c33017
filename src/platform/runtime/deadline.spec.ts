import { Deadline } from './deadline.js';

test('whichever comes first is why, and it is told once', async () => {
  const abort = new AbortController();
  const deadline = new Deadline(5, abort.signal);
  let told = 0;
  deadline.on('abort', () => (told += 1));
  abort.abort();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([deadline.reason?.reason, told]).toEqual(['aborted', 1]);
  deadline.clear();
});

test('who has given up already is not kept waiting', () => {
  const deadline = new Deadline(60_000, AbortSignal.abort());
  expect([deadline.aborted, deadline.reason?.reason]).toEqual([true, 'aborted']);
  deadline.clear();
});

test('once it is cleared nothing of it happens any more', async () => {
  const abort = new AbortController();
  const deadline = new Deadline(5, abort.signal);
  deadline.clear();
  abort.abort();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([deadline.aborted, deadline.reason]).toEqual([false, undefined]);
});
