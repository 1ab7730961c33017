import { LineQueue } from './log-writer.js';

const line = (text: string) => ({ line: text, rank: 30 });
const texts = (lines: { line: string }[]) => lines.map((one) => one.line);

test('lines are taken out in order, limited in number and in size', () => {
  const queue = new LineQueue(10, 1000);
  for (const text of ['aaa', 'bbb', 'ccc', 'ddd']) queue.push(line(text));
  expect(texts(queue.shiftBatch(2, 1000))).toEqual(['aaa', 'bbb']);
  expect(texts(queue.shiftBatch(10, 4))).toEqual(['ccc', 'ddd']);
  expect(queue.shiftBatch(1, 1)).toEqual([]);
  expect(queue.drainDropped()).toBe(0);
});

test('past the number of lines the oldest are dropped, and counted once', () => {
  const queue = new LineQueue(3, 1000);
  for (const text of ['1', '2', '3', '4', '5']) queue.push(line(text));
  expect(queue.drainDropped()).toBe(2);
  expect(queue.drainDropped()).toBe(0);
  expect(texts(queue.shiftBatch(9, 1000))).toEqual(['3', '4', '5']);
});

test('past the size the oldest are dropped, and so is a single line that is too large', () => {
  const queue = new LineQueue(100, 10);
  for (const text of ['aaaa', 'bbbb', 'cccc']) queue.push(line(text));
  expect(queue.drainDropped()).toBe(1);
  queue.push(line('d'.repeat(11)));
  expect(queue.size).toBe(0);
  expect(queue.drainDropped()).toBe(3);
});

test('it never exceeds its bound, however long it runs', () => {
  const queue = new LineQueue(5, 1000);
  for (let n = 0; n < 10_000; n++) queue.push(line(String(n)));
  expect(queue.size).toBe(5);
  expect(texts(queue.shiftBatch(5, 1000))).toEqual(['9995', '9996', '9997', '9998', '9999']);
  expect(queue.drainDropped()).toBe(9995);
});
