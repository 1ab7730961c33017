import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/client';
import type { Logger } from '../../../platform/logging/logger.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { ArgumentChecks } from '../../tools/schemas/argument-checks.js';
import { McpSession } from './mcp-session.js';

type Answers = Readonly<Record<string, (params: unknown) => object | undefined>>;

/** A server that answers each method as given; undefined for no answer. */
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
const checks = new ArgumentChecks();
const logger = { warn: () => undefined } as unknown as Logger;
afterAll(() => checks.onModuleDestroy());

async function open(
  answers: Answers,
  more: Partial<typeof SETTINGS> = {},
  capabilities: object = { tools: {} },
) {
  const server = new ScriptedServer(answers, capabilities);
  const settings = { ...SETTINGS, ...more } as unknown as McpServerSettings;
  const session = new McpSession(server, settings, {
    checks,
    requests: { logger, questionTimeoutMs: () => 1000, hideKnown: (text) => text, redact: (text) => text },
    onToolsChanged: () => undefined,
  });
  await session.open(signal);
  return { session, server };
}

test('a server without the tools capability is not asked for tools', async () => {
  const { session, server } = await open({}, {}, {});
  expect([(await session.listTools(signal)).definitions, server.asked]).toEqual([[], ['initialize']]);
  await session.close();
});

test('a result that does not match the output schema is refused; with an unusable schema it is not', async () => {
  const inputSchema = { type: 'object' };
  const outputSchema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };
  const tools = [
    { name: 'counts', inputSchema, outputSchema },
    { name: 'mistaken', inputSchema, outputSchema: { type: 'object', $ref: '#/nowhere' } },
  ];
  const answered = (structuredContent: object) => ({
    content: [{ type: 'text', text: 'done' }],
    structuredContent,
  });
  const { session } = await open({
    'tools/list': () => ({ tools }),
    'tools/call': (params) => answered((params as { arguments: object }).arguments),
  });
  await session.listTools(signal);
  await expect(session.call('counts', { count: 'many' }, signal)).rejects.toThrow(
    'data/count must be integer',
  );
  await expect(session.call('counts', { count: 3 }, signal)).resolves.toEqual({
    content: 'done\n{"count":3}',
  });
  await expect(session.call('mistaken', { count: 'many' }, signal)).resolves.toEqual({
    content: 'done\n{"count":"many"}',
  });
  await session.close();
});

test('a list of tools is cut to its bounds before anything reads it, and counts what was left out', async () => {
  const tool = (name: string, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
  const deep = Array.from({ length: 5000 }).reduce<object>((inner) => ({ properties: { inner } }), {});
  const { session } = await open({
    'tools/list': () => ({
      tools: [
        tool('large', { description: 'x'.repeat(140_000) }),
        tool('deep', { inputSchema: { type: 'object', ...deep } }),
        tool('output', { outputSchema: { type: 'object', description: 'x'.repeat(140_000) } }),
        tool('task', { execution: { taskSupport: 'required' } }),
        ...Array.from({ length: 3000 }, (_, at) => tool(`t${at}`)),
      ],
    }),
  });
  const { definitions, leftOut, outputSchemas, tasksOnly } = await session.listTools(signal);
  expect([definitions.length, leftOut, outputSchemas.size, tasksOnly]).toEqual([1999, 1004, 0, ['task']]);
  expect(definitions.slice(0, 2).map(({ name }) => name)).toEqual(['output', 't0']);
  await session.close();
});

test('a failed tool reports its text, or that it gave no reason', async () => {
  const said = (text: string) => ({ content: text === '' ? [] : [{ type: 'text', text }], isError: true });
  const { session } = await open({
    'tools/call': (params) => said((params as { name: string }).name.slice(1)),
  });
  await expect(session.call('-no such file', {}, signal)).rejects.toMatchObject({
    ...{ name: 'McpToolFailed', message: 'no such file' },
  });
  await expect(session.call('-', {}, signal)).rejects.toThrow('The tool failed and gave no reason.');
  await session.close();
});

test('a server that does not answer the ping is given up', async () => {
  const { session } = await open({ ping: () => undefined });
  await expect(session.watch(signal)).resolves.toMatchObject({ message: 'it no longer answers' });
  expect(session.fault?.message).toBe('it no longer answers');
  await session.close();
});

test('a server that is busy with a call may be silent for as long as a call may take', async () => {
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

test('an end that is requested during a ping is not a fault of the server', async () => {
  const abort = new AbortController();
  const { session } = await open({
    ping: () => {
      setImmediate(() => abort.abort(new Error('a reconnection was requested')));
      return undefined;
    },
  });
  await expect(session.watch(abort.signal)).resolves.toMatchObject({
    message: 'a reconnection was requested',
  });
  expect(session.fault).toBeUndefined();
  await session.close();
});

test('questions outside a call are declined, and logged once a minute however many there are', async () => {
  const warn = jest.spyOn(logger, 'warn');
  const passed = jest.spyOn(performance, 'now');
  const { session, server } = await open({}, { elicitation: true } as object);
  const params = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
  const ask = async (times: number) => {
    for (let id = 1; id <= times; id += 1)
      server.onmessage?.({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await ask(200);
  const later = performance.now() + 60_001;
  passed.mockReturnValue(later);
  await ask(1);
  expect(warn.mock.calls.map(([, fields]) => fields)).toEqual([{ questions: 1 }, { questions: 200 }]);
  passed.mockRestore();
  warn.mockRestore();
  await session.close();
});
