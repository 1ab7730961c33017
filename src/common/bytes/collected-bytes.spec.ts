import { CollectedBytes } from './collected-bytes.js';

test('pieces of any size come out as they went in, and then it is empty', () => {
  const bytes = new CollectedBytes();
  for (const sizes of [[], [0], [5], [0, 3, 0], [1, 1, 1], [700, 400, 5000, 1, 0, 65_536, 2]]) {
    const pieces = sizes.map((size, n) => Buffer.alloc(size, String(n)));
    for (const piece of pieces) bytes.add(piece);
    expect(bytes.length).toBe(sizes.reduce((sum, size) => sum + size, 0));
    expect(bytes.take().equals(Buffer.concat(pieces))).toBe(true);
    expect([bytes.length, bytes.take().length]).toEqual([0, 0]);
  }
});

test('a single piece is not copied, and what is added later does not change it', () => {
  const bytes = new CollectedBytes();
  const whole = Buffer.from('one piece of more');
  bytes.add(whole.subarray(4, 9));
  const taken = bytes.take();
  expect([taken.toString(), taken.buffer === whole.buffer]).toEqual(['piece', true]);
  bytes.add(whole.subarray(4, 9));
  bytes.add(Buffer.from(' and another'));
  expect([bytes.take().toString(), whole.toString()]).toEqual(['piece and another', 'one piece of more']);
});

test('many small pieces are in one buffer, at most twice as large as they are together', () => {
  const bytes = new CollectedBytes();
  for (let n = 0; n < 100_000; n += 1) bytes.add(Buffer.from('x'));
  const taken = bytes.take();
  expect(taken.equals(Buffer.alloc(100_000, 'x'))).toBe(true);
  expect(taken.buffer.byteLength).toBeLessThanOrEqual(200_000);
});
