import { type ChildProcess, spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { resolve } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { freePort } from '../harness/free-port.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, serverB } from '../harness/mcp.js';

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const TOKEN = 'a-token-for-tool-servers-4711';

const servers = new Set<ChildProcess>();
let bench: McpBench;
let gateway: TestGateway;
let http: { port: number; child: ChildProcess };
let sse: { port: number; child: ChildProcess };

async function serve(transport: 'streamableHttp' | 'sse', port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [EVERYTHING, transport], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: 'ignore',
  });
  servers.add(child);
  await eventually(async () => {
    await fetch(`http://127.0.0.1:${port}/nothing`);
  });
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await gone;
  servers.delete(child);
}

const connected = (name: string) =>
  eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);

/** An HTTP server that refuses every token. */
const refusingServer = createHttpServer((request, response) => {
  asked.push(request.headers.authorization ?? 'nothing');
  response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
});
const asked: string[] = [];

beforeAll(async () => {
  const [httpPort, ssePort] = [await freePort(), await freePort()];
  http = { port: httpPort, child: await serve('streamableHttp', httpPort) };
  sse = { port: ssePort, child: await serve('sse', ssePort) };
  await new Promise<void>((done) => refusingServer.listen(0, '127.0.0.1', done));
  const { port } = refusingServer.address() as { port: number };
  const quick = { health_interval_ms: 200, health_timeout_ms: 1000 };
  bench = await McpBench.make({
    web: { transport: 'http', url: `http://127.0.0.1:${httpPort}/mcp`, ...quick },
    old: { transport: 'sse', url: `http://127.0.0.1:${ssePort}/sse`, ...quick },
    closed: { transport: 'http', url: `http://127.0.0.1:${port}/mcp`, token_env: 'TOOLS_TOKEN' },
    inside: { transport: 'http', url: 'http://10.1.2.3/mcp' },
  });
  gateway = await startTestGateway({ env: { ...bench.env, TOOLS_TOKEN: TOKEN } });
});
afterAll(async () => {
  await gateway.stop();
  for (const child of servers) await end(child);
  refusingServer.close();
  await bench.clear();
});

describe.each([
  ['web', 'http'],
  ['old', 'sse'],
] as const)('the server "%s" over %s', (name, transport) => {
  const backing = () => (name === 'web' ? http : sse);

  test('is connected, and its tools run', async () => {
    await connected(name);
    expect((await serverB(gateway, name))?.transport).toBe(transport);
    const { status, output } = await callTool(gateway, `${name}__echo`, { message: 'over the wire' });
    expect([status, output]).toEqual(['success', 'Echo: over the wire']);
  });

  test('is noticed when it goes, and connected again when it is back', async () => {
    await end(backing().child);
    await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('reconnecting'));
    backing().child = await serve(transport === 'http' ? 'streamableHttp' : 'sse', backing().port);
    await connected(name);
    const { status } = await callTool(gateway, `${name}__echo`, { message: 'again' });
    expect(status).toBe('success');
  });
});

test('a restarted server answers the next call, because it did not run the first attempt', async () => {
  await connected('web');
  await end(http.child);
  http.child = await serve('streamableHttp', http.port);
  await eventually(async () => {
    const { output } = await callTool(gateway, 'web__echo', { message: 'still here' });
    expect(output).toBe('Echo: still here');
  });
});

test('a server that refuses our token is not contacted again, and no log line holds the token', async () => {
  await eventually(async () => expect((await serverB(gateway, 'closed'))?.status).toBe('disconnected'));
  const { body } = await gateway.a.get<{ servers: unknown[] }>('/mcp/servers');
  const error = expect.stringContaining('Unauthorized') as string;
  expect(body.servers).toContainEqual({ name: 'closed', status: 'disconnected', tools: [], error });
  expect(asked.every((header) => header === `Bearer ${TOKEN}`)).toBe(true);
  expect(asked.length).toBeGreaterThan(0);
  expect(gateway.logLines.join('')).not.toContain(TOKEN);
});

test('reconnect tries a refused server once more', async () => {
  const before = asked.length;
  await gateway.b.post('/mcp/closed/reconnect');
  await eventually(() => expect(asked.length).toBeGreaterThan(before));
});

test('an address inside a private network is not connected to', async () => {
  await eventually(() => {
    const lines = gateway.logLines.filter((line) => line.includes('"mcp::inside"'));
    expect(lines.join('')).toContain('must lead to a public address');
  });
});
