import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, processesWith, published, serverB, shared } from '../harness/mcp.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession } from '../harness/turn-stream.js';

/** The longest back-off after a first failure. The rest of a recovery is the server's own start. */
const MAX_BACK_OFF_MS = 500;
const LONG = { duration: 60, steps: 600 };
const SERVERS = ['everything', 'files', 'memory'] as const;
type Server = (typeof SERVERS)[number];

let bench: McpBench;
let gateway: TestGateway;
/** The text by which to find the processes of this run's server. */
const marks = {} as Record<Server, string>;
beforeAll(async () => {
  bench = await McpBench.make({});
  const files = join(bench.folder, 'files');
  await mkdir(files);
  await writeFile(join(files, 'note.txt'), 'heliotrope');
  Object.assign(marks, {
    everything: `--run=everything-${process.pid}`,
    files,
    memory: `--run=memory-${process.pid}`,
  });
  await bench.write(
    {
      everything: shared(published('everything', ['stdio', marks.everything])),
      files: shared(published('filesystem', [files])),
      memory: shared(published('memory', [marks.memory])),
    },
    '[security.sandbox]\nbackend = "none"\n',
  );
  gateway = await startTestGateway({ env: bench.env });
  for (const name of SERVERS) await connected(name);
});
afterAll(() => bench.clear());

const isUp = async (name: Server) => (await serverB(gateway, name))?.status === 'connected';
const connected = (name: Server) => eventually(async () => expect(await isUp(name)).toBe(true), 20_000);
/** The child itself, without its watchdog shell. */
function childOf(name: Server): number {
  const [child, ...others] = processesWith(marks[name]).filter((pid) => !isWatch(pid));
  if (child === undefined || others.length > 0) throw new Error(`There are ${others.length + 1} children.`);
  return child;
}
const isWatch = (pid: number) => processesWith('mcp-child').includes(pid);

/** How often it was connected, by the log. */
const connections = (name: Server): number =>
  gateway.logLines.filter((line) => line.includes(`"mcp::${name}"`) && line.includes('"connected"')).length;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Starts a call that would take a minute, and waits until the server runs it. */
async function longCall() {
  const client = await SocketClient.open(
    `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${await newSession(gateway)}`,
    { headers: { authorization: `Bearer ${gateway.token}` } },
  );
  const content = `/call everything__trigger-long-running-operation ${JSON.stringify(LONG)}`;
  client.send({ type: 'message', content });
  await client.until('tool_call');
  return client;
}

test('the tools of all three are listed, and what one adds after the handshake is processed', async () => {
  expect((await serverB(gateway, 'memory'))?.tools).toContain('read_graph');
  expect((await serverB(gateway, 'files'))?.tools).toContain('read_text_file');
  // The server adds this tool after the handshake.
  await eventually(async () =>
    expect((await serverB(gateway, 'everything'))?.tools).toContain('simulate-research-query'),
  );
});

test('a call of each is answered', async () => {
  const read = await callTool(gateway, 'files__read_text_file', { path: join(marks.files, 'note.txt') });
  expect(read).toMatchObject({ status: 'success', output: 'heliotrope' });
  expect((await callTool(gateway, 'everything__get-sum', { a: 1, b: 2 })).output).toContain('3');
  expect((await callTool(gateway, 'memory__read_graph', {})).status).toBe('success');
});

test('a cancelled turn ends its call at once, and the server goes on with others', async () => {
  const child = childOf('everything');
  const client = await longCall();
  client.send({ type: 'cancel' });
  expect(await client.until('error')).toMatchObject({ error: { code: 'conflict' } });
  client.socket.terminate();
  expect((await callTool(gateway, 'everything__echo', { message: 'x' })).output).toBe('Echo: x');
  expect(childOf('everything')).toBe(child);
});

test.each(SERVERS)(
  'kill -9 of the child of %s: it is back after one back-off and its own start',
  async (name) => {
    await gateway.b.post(`/mcp/${name}/reconnect`);
    const start = await timed(() => connected(name));
    const before = childOf(name);
    process.kill(before, 'SIGKILL');
    await eventually(async () => expect(await isUp(name)).toBe(false));
    const back = await timed(() => connected(name));
    expect(childOf(name)).not.toBe(before);
    // When other tests keep the machine busy, start times vary.
    expect(back).toBeLessThan(MAX_BACK_OFF_MS + 4 * start);
  },
);

test('a running call fails before the next child starts when the child is killed', async () => {
  const client = await longCall();
  const before = connections('everything');
  process.kill(childOf('everything'), 'SIGKILL');
  const { content } = await client.until('tool_result');
  expect(connections('everything')).toBe(before);
  expect(content).toContain('was lost while the call ran');
  client.socket.terminate();
  await eventually(() => expect(connections('everything')).toBe(before + 1));
});

test('none of them outlives the gateway', async () => {
  for (const name of SERVERS) expect(processesWith(marks[name]).length).toBeGreaterThan(0);
  await gateway.stop();
  for (const name of SERVERS) expect([name, processesWith(marks[name])]).toEqual([name, []]);
});
