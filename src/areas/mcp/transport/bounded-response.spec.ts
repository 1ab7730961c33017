import { askedBy, boundedResponse } from './bounded-response.js';

const MIB = 1_048_576;
const TOO_LONG = 'The message of the tool server has more than 10485760 bytes (10 MiB), so it was not read.';
const error = (id: number, message: string) => ({ jsonrpc: '2.0', id, error: { code: -32_603, message } });

/** A response whose body arrives in these pieces. */
function answer(pieces: readonly string[], headers: Record<string, string> = {}): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { status: 202, headers: { 'content-type': 'application/json', ...headers } });
}

function bounded(response: Response, asked?: number) {
  const refused: string[] = [];
  return { refused, response: boundedResponse(response, asked, (reason) => refused.push(reason)) };
}

const stream = (...pieces: string[]) =>
  answer(pieces, { 'content-type': 'text/event-stream; charset=utf-8' });
const dataOf = (text: string): unknown[] =>
  text
    .split(/[\r\n]+/)
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as unknown);

test('a request body has the id of its call; a notification has none', () => {
  expect(askedBy('{"method":"tools/call","params":{"id":3},"jsonrpc":"2.0","id":7}')).toBe(7);
  expect([
    askedBy('{"method":"notifications/x"}'),
    askedBy('{"id":1,"result":{}}'),
    askedBy(undefined),
  ]).toEqual([...[undefined, undefined, undefined]]);
});

test('a response without a body is unchanged', () => {
  const empty = new Response(null, { status: 204 });
  expect(bounded(empty).response).toBe(empty);
});

test('a response up to 10 MiB arrives as it was sent; past that an error takes its place, with the reason', async () => {
  const whole = bounded(answer(['"', 'x'.repeat(MIB), '"'])).response;
  expect([whole.status, whole.headers.get('content-type')]).toEqual([202, 'application/json']);
  expect(await whole.text()).toHaveLength(MIB + 2);
  const large = bounded(answer(['"', 'x'.repeat(6 * MIB), 'x'.repeat(5 * MIB)]), 7);
  expect(await large.response.json()).toEqual(error(7, TOO_LONG));
  expect(large.refused).toEqual([TOO_LONG]);
});

test('a response whose content-length is past the bound is not waited for', async () => {
  const slow = new Response(new ReadableStream(), { headers: { 'content-length': String(11 * MIB) } });
  const { message } = ((await bounded(slow, 7).response.json()) as ReturnType<typeof error>).error;
  expect(message).toContain('more than 10485760 bytes');
});

test('a body past the bound that answers no call fails', async () => {
  await expect(bounded(answer(['x'.repeat(11 * MIB)])).response.text()).rejects.toThrow(TOO_LONG);
});

test('a stream may go on for ever; a response in it that is too large becomes an error, and what follows is read', async () => {
  const half = 'x'.repeat(6 * MIB);
  const large = [`event: message\r\ndata: {"result":"${half}`, half, '","id":7}\r\n\r\n'];
  const { response, refused } = bounded(
    stream('data: {"id":1}\n\n', ...large, 'data: {"id":8}\r\r', `: ${half}\n\n`),
    7,
  );
  expect(dataOf(await response.text())).toEqual([{ id: 1 }, error(7, TOO_LONG), { id: 8 }]);
  expect(refused).toEqual([TOO_LONG]);
});

test('a stream that answers many calls finds out which response was too large', async () => {
  const large = `data: {"result":"${'x'.repeat(11 * MIB)}","id":12}\n\n`;
  expect(dataOf(await bounded(stream(large, 'data: {"id":8}\n\n')).response.text())).toEqual([
    error(12, TOO_LONG),
    { id: 8 },
  ]);
});

test('a notification that is too large is dropped and fails no call', async () => {
  const large = `data: {"method":"notifications/message","params":"${'x'.repeat(11 * MIB)}"}\n\n`;
  const { response, refused } = bounded(stream(large, 'data: {"id":7}\n\n'), 7);
  expect(dataOf(await response.text())).toEqual([{ id: 7 }]);
  expect(refused).toEqual([TOO_LONG]);
});

test.each(['\n', '\r\n', '\r'])(
  'of a flood of line ends (%j) nothing is passed on but the message in it',
  async (end) => {
    const many = end.repeat(200_000);
    const { response } = bounded(stream(many, `data: {"id":1}${end}${end}`, many), 1);
    const text = await response.text();
    expect([dataOf(text), text.length < 30]).toEqual([[{ id: 1 }], true]);
  },
);

test('a flood of events leaves others their turns, and is read no faster than 2,000 a second', async () => {
  const one = 'data: {"method":"notifications/x"}\n\n';
  const { response } = bounded(stream(one.repeat(3000)));
  let turns = 0;
  const over = new AbortController();
  const counting = (async () => {
    for (; !over.signal.aborted; turns += 1) await new Promise(setImmediate);
  })();
  const startedAt = performance.now();
  expect(dataOf(await response.text())).toHaveLength(3000);
  over.abort();
  await counting;
  expect(turns).toBeGreaterThan(30);
  expect(performance.now() - startedAt).toBeGreaterThan(500);
});
