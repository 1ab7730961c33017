import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { atMost } from './harness/rows.js';
import { median } from './harness/statistics.js';

const KILLS = 20;
const POLL_MS = 5;
/** By then the server has begun the call. */
const UNDERWAY_MS = 150;
const LIMIT_MS = 30_000;
const SERVER = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
const LONG_CALL = '/call tools__trigger-long-running-operation {"duration":60,"steps":60}';

/** kill -9 of a tool server's child: time until the running call has failed, and until the server is back. */
export const toolServers: Benchmark = { name: 'tool-servers', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const dataDir = await bench.dataDir();
  const file = join(dataDir, 'gateway.toml');
  const args = JSON.stringify([resolve(SERVER), 'stdio', dataDir]);
  await writeFile(
    file,
    // One child for all callers: the one that is killed is the one that runs the call.
    `[mcp.servers.tools]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\nisolation = "shared"\n`,
  );
  const gateway = await bench.gateway({ dataDir, environment: { GATEWAY_CONFIG: file } });
  await until(() => isConnected(gateway));
  const starts: number[] = [];
  const failures: number[] = [];
  const recoveries: number[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    starts.push(await reconnected(gateway));
    const call = longCall(gateway);
    // What went wrong before is the error then, not that its call ended with it.
    call.catch(() => undefined);
    await sleep(UNDERWAY_MS);
    process.kill(await onlyChildWith(dataDir), 'SIGKILL');
    const killedAt = performance.now();
    await call;
    failures.push(performance.now() - killedAt);
    await until(() => isConnected(gateway));
    recoveries.push(performance.now() - killedAt);
  }
  await gateway.stop();
  return rows(starts, failures, recoveries);
}

function rows(starts: readonly number[], failures: readonly number[], recoveries: readonly number[]): Row[] {
  const own = `when asked to reconnect: ${spread(starts)}`;
  return [
    atMost(
      { path: 'Tool server killed: the call that ran has failed', measured: spread(failures), baseline: '' },
      median(failures),
      100,
      'ms',
    ),
    atMost(
      { path: 'Tool server killed: it is back', measured: spread(recoveries), baseline: own },
      median(recoveries),
      1000,
      'ms',
    ),
  ];
}

function spread(times: readonly number[]): string {
  return `${times.length} kills, ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`;
}

/** @returns how long the server takes to start when nothing delays it */
async function reconnected(gateway: GatewayProcess): Promise<number> {
  const startedAt = performance.now();
  await request(gateway, gateway.portB, '/mcp/tools/reconnect', '');
  await until(() => isConnected(gateway));
  return performance.now() - startedAt;
}

async function longCall(gateway: GatewayProcess): Promise<void> {
  const { id } = (await request(gateway, gateway.portB, '/sessions', '{}')) as { id: string };
  const answer = await request(
    gateway,
    gateway.portB,
    `/sessions/${id}/messages`,
    JSON.stringify({ content: LONG_CALL }),
  );
  if (!JSON.stringify(answer).includes('was lost while the call ran'))
    throw new Error(`The call ended otherwise: ${JSON.stringify(answer).slice(0, 300)}`);
}

async function isConnected(gateway: GatewayProcess): Promise<boolean> {
  const { servers } = (await request(gateway, gateway.portB, '/mcp')) as { servers: { status: string }[] };
  return servers[0]?.status === 'connected';
}

async function request(
  { headers }: GatewayProcess,
  port: number,
  path: string,
  body?: string,
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    ...(body === undefined ? {} : { method: 'POST', ...(body === '' ? {} : { body }) }),
  });
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function until(isSo: () => boolean | Promise<boolean>, what = 'connected'): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`The tool server was not ${what} in time.`);
    await sleep(POLL_MS);
  }
}

/** The server that runs; the one before it may take a moment to end. */
async function onlyChildWith(word: string): Promise<number> {
  let found: number[] = [];
  await until(() => {
    found = childrenWith(word);
    return found.length === 1;
  }, 'alone');
  return found[0] as number;
}

/** The server processes themselves, not their shells, found by a word in the command line; Linux only. */
function childrenWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const words = commandOf(pid);
      return words[0] === process.execPath && words.includes(word);
    })
    .map(Number);
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
