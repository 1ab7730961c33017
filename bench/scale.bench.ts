import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { commandRows } from './scale/commands.js';
import { readRows } from './scale/reads.js';
import { turnRows } from './scale/turn-costs.js';
import { upkeepRows } from './scale/upkeep.js';
import { closeWorlds, openWorlds } from './scale/worlds.js';

/** Everything that could grow with the amount of stored data: the same gateway on a small and on a large database. */
export const scale: Benchmark = { name: 'scale', onlyByName: true, run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const worlds = await openWorlds(bench);
  const rows: Row[] = [];
  for (const part of [readRows, commandRows, turnRows, upkeepRows]) rows.push(...(await part(bench, worlds)));
  await closeWorlds(worlds);
  return rows;
}
