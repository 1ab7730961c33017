import { eventually } from '../harness/eventually.js';
import { ANSWER, child, closeChildren, PING } from '../harness/tool-children.js';

afterEach(closeChildren);

/** Turns of the event loop in a second. */
async function turnsInASecond(): Promise<number> {
  let turns = 0;
  for (const end = performance.now() + 1000; performance.now() < end; turns += 1)
    await new Promise((resolve) => setTimeout(resolve, 1));
  return turns;
}

test.each([
  ['short lines on standard error', 'yes a >&2'],
  ['empty lines on standard error', 'yes "" >&2'],
  ['empty lines on standard output', 'yes ""'],
])('a child that floods the gateway with %s slows down nobody else', async (_, script) => {
  const usual = await turnsInASecond();
  const { transport } = child(script);
  await transport.start();
  await new Promise((resolve) => setTimeout(resolve, 300));
  // A flood slows down every second, other work on the machine only some.
  let most = 0;
  for (let round = 0; round < 3 && most <= usual / 10; round += 1)
    most = Math.max(most, await turnsInASecond());
  expect(most).toBeGreaterThan(usual / 10);
});

test('a response of 100 MB fails its call at once, long before it ends, and the child goes on', async () => {
  const { transport, seen } = child(
    `read -r line; echo '${ANSWER}'; read -r line; printf '{"result":"'; head -c 100000000 /dev/zero | tr "\\\\0" x; echo '","id":2,"jsonrpc":"2.0"}'; read -r line; echo '{"jsonrpc":"2.0","id":3,"result":{}}'; sleep 60`,
  );
  await transport.start();
  await transport.send(PING);
  await eventually(() => expect(seen.messages).toHaveLength(1));
  await transport.send({ ...PING, id: 2 });
  const startedAt = performance.now();
  await eventually(() => expect(seen.messages[1]).toMatchObject({ id: 2, error: { code: -32_603 } }));
  // At most 16 MiB are read in a second.
  expect(performance.now() - startedAt).toBeLessThan(4000);
  await transport.send({ ...PING, id: 3 });
  await eventually(() => expect(seen.messages[2]).toEqual({ jsonrpc: '2.0', id: 3, result: {} }), 20_000);
  expect([seen.output.length, seen.messages.length, transport.fault]).toEqual([1, 3, undefined]);
}, 30_000);
