import fc from 'fast-check';
import { editDistance, nearestKey } from './nearest-key.js';
import { leafNodes } from './settings-tree.js';

describe('the nearest key', () => {
  test.each([
    ['agent.max_turn', 'agent.max_turns'],
    ['agnet.max_turns', 'agent.max_turns'],
    ['agnet', 'agent'],
    ['agent.max_wait', 'agent.max_wait_ms'],
    ['gateway.top_k', 'memory.top_k'],
    ['gateway', undefined],
    ['agent.colour', undefined],
    [`agent.${'x'.repeat(10_000)}`, undefined],
  ])('of %s is %s', (unknown, nearest) => {
    expect(nearestKey(unknown.split('.'))).toBe(nearest);
  });

  test('of a long key with one letter missing is a key at most as far away', () => {
    const keys = leafNodes()
      .map(({ path }) => path)
      .filter((path) => (path.at(-1)?.length ?? 0) > 6);
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.nat(5), (path, at) => {
        const name = path.at(-1) ?? '';
        const mistyped = name.slice(0, at) + name.slice(at + 1);
        const nearest =
          nearestKey([...path.slice(0, -1), mistyped])
            ?.split('.')
            .at(-1) ?? '';
        expect(editDistance(mistyped, nearest)).toBe(1);
      }),
    );
  });

  test('the distance is zero to itself, symmetric, and at most the length of the longer word', () => {
    const word = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(editDistance(one, one)).toBe(0);
        expect(editDistance(one, other)).toBe(editDistance(other, one));
        expect(editDistance(one, other)).toBeLessThanOrEqual(Math.max(one.length, other.length));
      }),
    );
    expect(editDistance('kitten', 'sitting')).toBe(3);
    expect(editDistance('x'.repeat(129), 'x')).toBe(Infinity);
  });
});
