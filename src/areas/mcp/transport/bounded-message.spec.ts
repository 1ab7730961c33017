import fc from 'fast-check';
import { MessageScan } from './bounded-message.js';

function scanned(text: string, cut: number): MessageScan {
  const scan = new MessageScan();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += cut) scan.push(bytes.subarray(at, at + cut));
  return scan;
}

test.each<[string, string | number | undefined, boolean]>([
  ['{"jsonrpc":"2.0","id":7,"result":{"id":8,"method":"no"}}', 7, false],
  ['{"result":{"text":"\\"id\\":1,"},"jsonrpc":"2.0","id": "a\\\\b" }', 'a\\\\b', false],
  ['{"id":-1,"method":"ping"}', -1, true],
  ['{"method":"notifications/x","params":{"id":3}}', undefined, true],
  ['{"id":null,"error":{}}', undefined, false],
  ['event: message\nid: "5"\ndata: {"result":{},"id":12}\n\n', 12, false],
  ['[{"id":1}]', undefined, false],
  [`{"id":${'9'.repeat(100)}}`, Number('9'.repeat(64)), false],
  ['', undefined, false],
])('of %j the id is %j, wherever it is cut', (text, id, isCall) => {
  for (const cut of [1, 2, 3, 7, 1000])
    expect([scanned(text, cut).id, scanned(text, cut).isCall]).toEqual([id, isCall]);
});

test('of any message, cut anywhere, the scan finds the id, the depth and no fewer values than it has', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  const valuesOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, part) => sum + valuesOf(part), 1)
      : 1;
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.integer(),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      (result, id, isFirst, cut) => {
        const message = isFirst ? { id, result } : { result, id };
        const scan = scanned(JSON.stringify(message), cut);
        expect([scan.id, scan.deepest, scan.isCall]).toEqual([id, depthOf(message), false]);
        expect(2 * scan.values + 1).toBeGreaterThanOrEqual(valuesOf(message));
      },
    ),
  );
});
