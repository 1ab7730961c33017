import type { TurnEvent } from '../turn.js';
import { withThoughts } from './shown-thoughts.js';

function listening() {
  const told: TurnEvent[] = [];
  const listener = withThoughts((event) => void told.push(event));
  return { told, think: (text: string) => listener({ type: 'reasoning', text }), listener };
}

test('thoughts are shown in pieces, the last of them before what follows', () => {
  const { told, think, listener } = listening();
  for (const piece of ['The user ', 'wants ', 'x'.repeat(60), ' So']) void think(piece);
  void listener({ type: 'token', text: 'Hello' });
  expect(told).toEqual([
    { type: 'reasoning', text: `The user wants ${'x'.repeat(60)}` },
    { type: 'reasoning', text: ' So' },
    { type: 'token', text: 'Hello' },
  ]);
});

test('no turn shows them without limit', () => {
  const { told, think } = listening();
  for (let n = 0; n < 5000; n += 1) void think('x'.repeat(64));
  expect(told).toHaveLength(4000);
});

test('a listener that is behind holds back what follows', async () => {
  const order: string[] = [];
  const listener = withThoughts(async ({ type }) => {
    await Promise.resolve();
    order.push(type);
  });
  void listener({ type: 'reasoning', text: 'Hm.' });
  await listener({ type: 'token', text: 'Hello' });
  expect(order).toEqual(['reasoning', 'token']);
});
