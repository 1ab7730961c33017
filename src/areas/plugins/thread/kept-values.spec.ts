import { KeptValues } from './kept-values.js';

const bytes = (length: number) => new Uint8Array(length);

test('keeps 1,024 values, and another under a key that is there', () => {
  const kept = new KeptValues();
  for (let index = 0; index < 1024; index += 1) kept.set(`key-${index}`, bytes(1));
  expect(() => kept.set('one more', bytes(1))).toThrow(RangeError);
  kept.set('key-7', bytes(9));
  expect(kept.get('key-7')).toHaveLength(9);
  kept.delete('key-7');
  kept.set('one more', bytes(1));
  expect([kept.get('key-7'), kept.get('one more')]).toEqual([undefined, bytes(1)]);
});

test('keeps 1 MiB with the keys; what is replaced or deleted makes room', () => {
  const kept = new KeptValues();
  kept.set('first', bytes(600_000));
  expect(() => kept.set('second', bytes(600_000))).toThrow('more is not kept');
  expect(kept.size).toBe(600_005);
  kept.set('first', bytes(400_000));
  kept.set('second', bytes(600_000));
  kept.delete('first');
  kept.delete('first');
  kept.delete('never there');
  expect(kept.size).toBe(600_006);
});

test('a key has at most 256 characters', () => {
  const kept = new KeptValues();
  expect(() => kept.set('k'.repeat(257), bytes(1))).toThrow(RangeError);
  expect(kept.size).toBe(0);
});
