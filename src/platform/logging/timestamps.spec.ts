import fc from 'fast-check';
import { timestamps } from './timestamps.js';

test('a moment is written as dates are, in whatever order moments come', () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
  const near = moment.chain((from) => fc.array(fc.integer({ min: from, max: from + 3000 })));
  fc.assert(
    fc.property(near, (moments) => {
      const write = timestamps();
      for (const at of moments) expect(write(at)).toBe(new Date(at).toISOString());
    }),
  );
});
