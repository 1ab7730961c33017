import { tmpdir } from 'node:os';
import { eventually } from '../../../../test/harness/eventually.js';
import { ANSWER, child, closeChildren, PING } from '../../../../test/harness/tool-children.js';

afterEach(closeChildren);

test('messages are lines; blank lines are ignored, and anything else is reported as output', async () => {
  const { transport, seen } = child(
    `pwd >&2; echo >&2; read -r line; echo; echo hello; echo '${ANSWER}'; sleep 60`,
  );
  await transport.start();
  await transport.send(PING);
  await eventually(() => expect(seen.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]));
  expect(seen.output.toSorted()).toEqual([tmpdir(), 'not a message on standard output: hello']);
  expect([transport.recentOutput, transport.fault]).toEqual([tmpdir(), undefined]);
});

test('a child that writes nonsense without end is ended', async () => {
  const { transport, seen } = child('while :; do echo nonsense; done');
  await transport.start();
  await eventually(() => expect(transport.fault).toBe('it wrote 1000 lines that are no messages'));
  expect([seen.closed, seen.messages]).toEqual([1, []]);
});

test('of a flood on standard error the last lines are kept', async () => {
  const { transport, seen } = child('seq 1 20000 >&2; echo "fatal: the last one" >&2; sleep 60');
  await transport.start();
  await eventually(() => expect(transport.recentOutput).toBe('fatal: the last one'));
  expect(seen.output).toContain('lines on standard error were left out: there were too many at once');
});

test('the end of a child is reported once, and nothing can be sent to it any more', async () => {
  const { transport, seen } = child('exit 3');
  await transport.start();
  await eventually(() => expect(transport.fault).toBe('it exited with code 3'));
  await expect(transport.send(PING)).rejects.toThrow('The child is gone.');
  await transport.close();
  expect([seen.closed, transport.fault]).toEqual([1, 'it exited with code 3']);
});

test('a missing program is reported as one that could not be started', async () => {
  const { transport } = child('', '/absent/server');
  await transport.start();
  await eventually(() => expect(transport.fault).toMatch(/^it could not be started: .*ENOENT/));
  await transport.close();
});

test('nothing can be sent before the start', async () => {
  await expect(child('').transport.send(PING)).rejects.toThrow('The child is gone.');
});

test('what a child has not read is bounded', async () => {
  const { transport } = child('sleep 60');
  await transport.start();
  const large = { ...PING, params: { text: 'x'.repeat(9 * 1_048_576) } };
  await transport.send(large);
  await transport.send(large);
  await expect(transport.send(PING)).rejects.toThrow('The child does not read what it is sent.');
});

test('a line on standard error that is too long is left out, and what follows is read, even at once', async () => {
  const { transport, seen } = child(
    'x=$(head -c 70000 /dev/zero | tr "\\0" x); printf "%s\\nafter\\n" "$x" >&2; sleep 60',
  );
  await transport.start();
  await eventually(() => expect(seen.output.at(-1)).toBe('after'));
  expect(seen.output).toEqual(['a line on standard error is too long and was left out', 'after']);
});

test('a response of more than 10 MiB is an error for its call, and the child goes on', async () => {
  const { transport, seen } = child(
    `read -r line; echo '${ANSWER}'; printf '{"jsonrpc":"2.0","result":"'; head -c 11000000 /dev/zero | tr "\\\\0" x; echo '","id":2}'; echo '${ANSWER}'; sleep 60`,
  );
  await transport.start();
  await transport.send(PING);
  const reason = 'The message of the tool server has more than 10485760 bytes (10 MiB), so it was not read.';
  await eventually(() => expect(seen.messages).toHaveLength(3));
  expect(seen.messages[1]).toEqual({ jsonrpc: '2.0', id: 2, error: { code: -32_603, message: reason } });
  expect([seen.output, seen.closed, transport.fault]).toEqual([[reason], 0, undefined]);
});
