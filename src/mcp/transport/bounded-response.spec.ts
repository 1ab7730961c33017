import { boundedResponse } from './bounded-response.js';

const MIB = 1_048_576;

/** A body that comes in these pieces. */
function answer(pieces: readonly string[], type = 'application/json'): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { status: 202, headers: { 'content-type': type } });
}

test('an answer without a body is what it is', () => {
  const empty = new Response(null, { status: 204 });
  expect(boundedResponse(empty)).toBe(empty);
});

test('an answer up to 10 MiB comes as it was sent, and fails past that', async () => {
  const whole = boundedResponse(answer(['x'.repeat(MIB), 'y']));
  expect([whole.status, whole.headers.get('content-type')]).toEqual([202, 'application/json']);
  expect(await whole.text()).toHaveLength(MIB + 1);
  const large = boundedResponse(answer(['x'.repeat(6 * MIB), 'x'.repeat(5 * MIB)]));
  await expect(large.text()).rejects.toThrow('more than 10485760 bytes for one message');
});

test('a stream may go on for ever, and a line of it may not', async () => {
  const line = `${'x'.repeat(6 * MIB)}\n`;
  const events = boundedResponse(answer([line, line, line], 'text/event-stream; charset=utf-8'));
  expect((await events.text()).length).toBe(3 * line.length);
  const endless = boundedResponse(
    answer([line, 'x'.repeat(6 * MIB), 'x'.repeat(6 * MIB)], 'text/event-stream'),
  );
  await expect(endless.text()).rejects.toThrow('for one message');
});
