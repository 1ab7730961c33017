import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Row } from '../benchmark.js';
import type { Bench } from '../harness/bench.js';
import { atMost, informs, short } from '../harness/rows.js';
import { median } from '../harness/statistics.js';
import { PERSON } from './seed-world.js';
import { gatewayOn, type OpenWorld, type Worlds } from './worlds.js';

const COMMAND = fileURLToPath(new URL('../../../bin/agent-gateway.js', import.meta.url));
const ROUNDS = 3;
const MOST = 1.5;

/** @returns how many seconds a command took; throws when it fails */
export async function command(bench: Bench, world: OpenWorld, args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: {
      ...process.env,
      GATEWAY__DATABASE__URL: world.database.url,
      GATEWAY_DATA_DIR: bench.folder,
      AGENT_GATEWAY_TOKEN: world.gateway.token,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`agent-gateway ${args.join(' ')} ended with ${code}:\n${complaint}`);
  return (performance.now() - startedAt) / 1000;
}

/** Commands that read, and the start of a gateway, in turn in both worlds. */
export async function commandRows(bench: Bench, { small, large }: Worlds): Promise<readonly Row[]> {
  const commands: readonly (readonly [what: string, (world: OpenWorld) => Promise<number>])[] = [
    ['migrate: nothing to do', (world) => command(bench, world, ['migrate'])],
    ['doctor, through the gateway', (world) => command(bench, world, ['doctor', '--url', urlOf(world)])],
    ['usage', (world) => command(bench, world, ['usage'])],
    ['user export of 10,000 messages', (world) => command(bench, world, ['user', 'export', PERSON])],
    ['Start to ready', (world) => started(bench, world)],
  ];
  const rows: Row[] = [];
  for (const [what, run] of commands) {
    const secs: Record<'small' | 'large', number[]> = { small: [], large: [] };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const world of round % 2 === 0 ? [small, large] : [large, small])
        secs[world.name].push(await run(world));
    const ratio = median(secs.large.map((one, round) => one / (secs.small[round] ?? Number.NaN)));
    const row = {
      path: what,
      measured: `${short(median(secs.large))} s`,
      baseline: `${short(median(secs.small))} s`,
    };
    rows.push(what === 'usage' ? informs(row, `${short(ratio)} ×`) : atMost(row, ratio, MOST, '×'));
    console.error(`scale: ${what}: ${row.measured}, ${row.baseline}, ${short(ratio)} ×`);
  }
  return rows;
}

const urlOf = ({ gateway }: OpenWorld): string => `http://127.0.0.1:${gateway.port}`;

/** Starts a second replica, waits until it is ready, and stops it. */
async function started(bench: Bench, { database }: OpenWorld): Promise<number> {
  const gateway = await gatewayOn(bench, database);
  await gateway.stop();
  return gateway.readyAfterMs / 1000;
}
