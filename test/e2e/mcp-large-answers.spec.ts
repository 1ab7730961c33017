import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, serverB } from '../harness/mcp.js';

const CONTEXT = { sessionId: 'sess_test', channel: 'api', userId: 'ada' };
const TOO_LARGE = 'has more than 10485760 bytes (10 MiB), so it was not read.';
const LARGE = 11 * 1_048_576;

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly text?: string } };
}

/** An HTTP server that answers a call in the format that its argument names: json, chunked or stream. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params } = (await json(request)) as Asked;
  if (id === undefined) return void response.writeHead(202).end();
  const [bytes, how] = (params?.arguments?.text ?? '0 json').split(' ');
  const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'large', version: '1' },
    },
    ping: {},
    'tools/list': { tools: [tool('big'), tool('hang')] },
    'tools/call': text('x'.repeat(Number(bytes))),
  };
  if (params?.name === 'hang') return void setTimeout(() => send(text('back')), 3000);
  if (results[method] !== undefined) return send(results[method]);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } }));

  function send(result: unknown): void {
    const body = JSON.stringify({ result, jsonrpc: '2.0', id });
    response.setHeader('content-type', how === 'stream' ? 'text/event-stream' : 'application/json');
    if (how === 'json') response.setHeader('content-length', Buffer.byteLength(body));
    else response.flushHeaders();
    response.end(how === 'stream' ? `event: message\ndata: ${body}\n\n` : body);
  }
}

let gateway: TestGateway;
let bench: McpBench;
let http: Server;
const call = (tool: string, args: Record<string, unknown> = {}) =>
  gateway.tools.call(tool, args, CONTEXT, new AbortController().signal);

beforeAll(async () => {
  http = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const { port } = http.address() as AddressInfo;
  const script = resolve('test/harness/hostile-mcp-server.mjs');
  bench = await McpBench.make({
    web: { transport: 'http', url: `http://127.0.0.1:${port}/mcp` },
    child: { command: process.execPath, args: [script, `large-${process.pid}`] },
  });
  gateway = await startTestGateway({ env: bench.env });
  for (const name of ['web', 'child'])
    await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'));
});
afterAll(async () => {
  await gateway.stop();
  http.closeAllConnections();
  http.close();
  await bench.clear();
});

describe.each([
  ['web', 'json'],
  ['web', 'chunked'],
  ['web', 'stream'],
  ['child', 'first'],
  ['child', 'last'],
])('an answer of more than 10 MiB from "%s", sent as %s', (server, how) => {
  test('fails its call at once with the reason, and the server and its other calls go on', async () => {
    const { connected_at: since } = (await serverB(gateway, server)) ?? {};
    const neighbour = call(`${server}__hang`);
    const startedAt = performance.now();
    const large = await call(`${server}__big`, { text: `${LARGE} ${how}` });
    const tookMs = performance.now() - startedAt;
    expect([large.status, large.content]).toEqual(['error', expect.stringContaining(TOO_LARGE)]);
    // The time-out would be a minute.
    expect(tookMs).toBeLessThan(20_000);
    expect(await call(`${server}__big`, { text: `5 ${how}` })).toEqual({
      status: 'success',
      content: 'xxxxx',
    });
    expect(await neighbour).toEqual({ status: 'success', content: 'back' });
    expect((await serverB(gateway, server))?.connected_at).toBe(since);
    const lines = gateway.logLines.filter(
      (line) => line.includes(`"mcp::${server}"`) && line.includes(TOO_LARGE),
    );
    expect(lines.at(-1)).toContain('a message from the tool server was refused');
  });
});

test.each(['first', 'last'])(
  'an answer of 100 MB from a child, with its id %s, fails its call with the reason and costs its neighbour nothing',
  async (where) => {
    const { connected_at: since } = (await serverB(gateway, 'child')) ?? {};
    const neighbour = call('child__hang');
    const large = await call('child__big', { text: `100000000 ${where}` });
    expect([large.status, large.content]).toEqual(['error', expect.stringContaining(TOO_LARGE)]);
    expect(await neighbour).toEqual({ status: 'success', content: 'back' });
    expect(await call('child__big', { text: '5 first' })).toEqual({ status: 'success', content: 'xxxxx' });
    expect((await serverB(gateway, 'child'))?.connected_at).toBe(since);
  },
);
