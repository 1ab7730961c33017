import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../../config/sections/mcp.section.js';
import { McpSession } from './mcp-session.js';

type Answers = Readonly<Record<string, (params: unknown) => object | undefined>>;

/** A server that answers what it is asked as told; undefined for never. */
class ScriptedServer implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly asked: string[] = [];

  constructor(
    private readonly answers: Answers,
    private readonly capabilities: object,
  ) {}

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message && 'id' in message) this.answer(message);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }

  private answer({ id, method, params }: JSONRPCRequest): void {
    this.asked.push(method);
    const { capabilities } = this;
    const protocolVersion = (params as { protocolVersion?: string } | undefined)?.protocolVersion;
    const hello = { protocolVersion, capabilities, serverInfo: { name: 's', version: '1' } };
    const result = method === 'initialize' ? hello : this.answers[method]?.(params);
    if (result !== undefined)
      setImmediate(() => this.onmessage?.({ jsonrpc: '2.0', id, result } as JSONRPCMessage));
  }
}

const SETTINGS = {
  ...{ transport: 'stdio', startup_timeout_ms: 1000, request_timeout_ms: 1000 },
  ...{ health_interval_ms: 5, health_timeout_ms: 20 },
};
const { signal } = new AbortController();

async function open(
  answers: Answers,
  more: Partial<typeof SETTINGS> = {},
  capabilities: object = { tools: {} },
) {
  const server = new ScriptedServer(answers, capabilities);
  const settings = { ...SETTINGS, ...more } as unknown as McpServerSettings;
  const session = new McpSession(server, settings, () => undefined);
  await session.open(signal);
  return { session, server };
}

test('a server without tools has none, and is not asked for them', async () => {
  const { session, server } = await open({}, {}, {});
  expect([await session.listTools(signal), server.asked]).toEqual([[], ['initialize']]);
  await session.close();
});

test('a tool that failed says what it said, or that it said nothing', async () => {
  const said = (text: string) => ({ content: text === '' ? [] : [{ type: 'text', text }], isError: true });
  const { session } = await open({
    'tools/call': (params) => said((params as { name: string }).name.slice(1)),
  });
  await expect(session.call('-no such file', {}, signal)).rejects.toMatchObject({
    ...{ name: 'McpToolFailed', message: 'no such file' },
  });
  await expect(session.call('-', {}, signal)).rejects.toThrow('The tool failed without a word.');
  await session.close();
});

test('a server that does not answer the ping is given up', async () => {
  const { session } = await open({ ping: () => undefined });
  await expect(session.watch(signal)).resolves.toMatchObject({ message: 'it does not answer any more' });
  expect(session.fault?.message).toBe('it does not answer any more');
  await session.close();
});

test('a server that is busy with a call may be silent for as long as the call may take', async () => {
  const { session, server } = await open({ ping: () => undefined }, { request_timeout_ms: 300 });
  const call = session.call('slow', {}, signal).catch(() => undefined);
  const since = performance.now();
  await session.watch(signal);
  expect(performance.now() - since).toBeGreaterThan(250);
  expect(server.asked.filter((one) => one === 'ping').length).toBeGreaterThan(2);
  await session.close();
  await call;
});

test('a connection that the server closes has ended, and the watch says so', async () => {
  const { session, server } = await open({ ping: () => ({}) });
  const watched = session.watch(signal);
  await server.close();
  await expect(watched).resolves.toMatchObject({ message: 'the connection was closed' });
});

test('an end that is asked for in the middle of a ping is no fault of the server', async () => {
  const abort = new AbortController();
  const { session } = await open({
    ping: () => {
      setImmediate(() => abort.abort(new Error('a reconnection was asked for')));
      return undefined;
    },
  });
  await expect(session.watch(abort.signal)).resolves.toMatchObject({
    message: 'a reconnection was asked for',
  });
  expect(session.fault).toBeUndefined();
  await session.close();
});
