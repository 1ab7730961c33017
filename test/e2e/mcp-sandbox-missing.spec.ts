import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { callTool, McpBench, type ServerB, scripted } from '../harness/mcp.js';
import { PathWithoutBubblewrap } from '../harness/sandbox.js';

const AUTO = '[security.sandbox]\nbackend = "auto"\n';
const WAY_OUT = /install bubblewrap.* or accept it with backend = "none" under \[security\.sandbox\]/;
const mark = `missing-${process.pid}`;
const processes = new ProcessBench();
let path: PathWithoutBubblewrap;
let bench: McpBench;
beforeEach(async () => {
  path = await PathWithoutBubblewrap.make();
  bench = await McpBench.make({ boxed: scripted(mark) }, AUTO);
});
afterEach(async () => {
  await processes.clear();
  await bench.clear();
  await path.clear();
});

interface Entry {
  readonly status: string;
  readonly error?: string;
  readonly warning?: string;
}

async function entryOf(b: Pick<HttpCaller, 'get'>, status: string): Promise<Entry> {
  let entry: Entry = { status: 'unknown' };
  await eventually(async () => {
    const { body } = await b.get<{ servers: ServerB[] }>('/mcp');
    entry = body.servers[0] ?? entry;
    expect(entry.status).toBe(status);
  }, 20_000);
  return entry;
}

/** A gateway with its embedded database. */
async function serveEmbedded(env: Record<string, string>) {
  const token = mintToken();
  const data = join(bench.folder, 'data');
  await mkdir(data);
  const running = await processes.serve({
    env: {
      ...bench.env,
      PATH: path.value,
      GATEWAY_DATA_DIR: data,
      GATEWAY_BOOTSTRAP_TOKEN: token,
      ...env,
    },
  });
  return { running, a: new HttpCaller(running.a, token), b: new HttpCaller(running.b, token) };
}

test('the embedded database on loopback: servers run, with a warning at the start, in /info and at their entries', async () => {
  const { running, a, b } = await serveEmbedded({});
  const { error, warning } = await entryOf(b, 'connected');
  expect([error, warning]).toEqual([undefined, expect.stringMatching(WAY_OUT)]);
  expect(warning).toContain('run without a sandbox, with all rights of the gateway');
  expect(warning).toContain('bubblewrap is not installed');
  const servers = await a.get<{ servers: Entry[] }>('/mcp/servers');
  expect(servers.body.servers[0]?.warning).toBe(warning);
  const info = await a.get<Record<string, unknown>>('/info');
  expect(info.body).toMatchObject({ sandbox_backend: 'none', sandbox_warning: warning });
  expect((await callTool({ a }, 'boxed__echo', { text: 'hello' })).output).toBe('echo: hello');
  running.kill('SIGTERM');
  const { stdout, stderr } = await running.ended;
  const warnings = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('without a sandbox'));
  expect(warnings).toHaveLength(1);
});

test('a server that is added later gets the warning as well', async () => {
  await bench.write({}, AUTO);
  const { running, b } = await serveEmbedded({});
  expect(running.output()).not.toContain('sandbox');
  await bench.write({ boxed: scripted(mark) }, AUTO);
  expect((await entryOf(b, 'connected')).warning).toMatch(WAY_OUT);
  running.kill('SIGTERM');
  const { stdout, stderr } = await running.ended;
  expect(`${stdout}${stderr}`).toContain('without a sandbox');
});

test('the embedded database on another address: servers are refused with the remedy, and nothing is started', async () => {
  const { a, b } = await serveEmbedded({ GATEWAY__GATEWAY__HOST: '0.0.0.0' });
  const { error, warning } = await entryOf(b, 'disconnected');
  expect([error, warning]).toEqual([expect.stringMatching(WAY_OUT), undefined]);
  expect(error).toContain('it listens at 0.0.0.0');
  expect((await a.get<Record<string, unknown>>('/info')).body['sandbox_backend']).toBe('none');
  expect((await b.get<Record<string, unknown>>('/status')).body['status']).toBe('degraded');
});

describe('a database of its own', () => {
  test('servers are refused with the remedy, and run once it is applied', async () => {
    const state = join(bench.folder, 'state');
    await bench.write({ boxed: scripted(mark, 'fine', state) }, AUTO);
    const gateway = await startTestGateway({ env: { ...bench.env, PATH: path.value } });
    const { error } = await entryOf(gateway.b, 'disconnected');
    expect(error).toMatch(WAY_OUT);
    expect(error).toContain('it has a database of its own');
    expect(gateway.logLines.filter((line) => line.includes('does not start stdio servers'))).not.toEqual([]);
    expect((await gateway.a.get<{ servers: Entry[] }>('/mcp/servers')).body.servers[0]?.error).toBe(error);
    const { body } = await gateway.b.post<Entry>('/mcp/boxed/reconnect');
    expect(body.status).toBe('reconnecting');
    await entryOf(gateway.b, 'disconnected');
    await expect(readFile(`${state}.starts`)).rejects.toThrow('ENOENT');
    await gateway.stop();

    await writeFile(bench.file, (await readFile(bench.file, 'utf8')).replace('"auto"', '"none"'));
    const unshut = await startTestGateway({ env: { ...bench.env, PATH: path.value } });
    expect(await entryOf(unshut.b, 'connected')).not.toHaveProperty('warning');
    await unshut.stop();
  });

  test('a broken bubblewrap counts as missing, and its error is shown', async () => {
    await writeFile(join(path.value, 'bwrap'), '#!/bin/sh\necho "bwrap: No permissions" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const gateway = await startTestGateway({ env: { ...bench.env, PATH: path.value } });
    expect((await entryOf(gateway.b, 'disconnected')).error).toContain('bwrap: No permissions');
    await gateway.stop();
  });
});
