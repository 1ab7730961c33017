import type { Row } from './benchmark.js';
import { Bench } from './harness/bench.js';
import type { Figures } from './harness/compare.js';
import { figuresText, informs } from './harness/rows.js';
import { median } from './harness/statistics.js';
import { tableText } from './harness/table.js';
import { TIMING } from './harness/timing.js';
import { readSystem } from './side-by-side/system.js';
import { TurnClients } from './side-by-side/turn-clients.js';

const PROVIDER_PORT = Number(process.env['BENCH_PROVIDER_PORT'] ?? 18_100);
const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 8);
const WARM_UP_MS = 5000;

/** The same turns on several systems, in turn (A B A B …). The others are compared with the first one. */
async function compareSystems(files: readonly string[]): Promise<Row[]> {
  const systems = files.map((file) => new TurnClients(readSystem(file), CLIENTS));
  const slots = systems.map((): Figures[] => []);
  for (const clients of systems) await clients.open();
  for (const clients of systems) await clients.run(WARM_UP_MS);
  for (let round = 0; round < TIMING.rounds; round += 1)
    for (const [index, clients] of systems.entries()) slots[index]?.push(await clients.run(TIMING.slotMs));
  for (const clients of systems) await clients.close();
  const [first = []] = slots;
  return slots.map((own, index) => {
    const of = (key: keyof Figures) => median(own.map((slot) => slot[key]));
    const figures = { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') };
    const measured = figuresText({ ...figures, cpuMsPerRequest: of('cpuMsPerRequest') });
    const ratio = median(own.map((slot, round) => slot.perSecond / (first[round]?.perSecond ?? Number.NaN)));
    const path = `${systems[index]?.system.name}: turns, ${CLIENTS} clients`;
    return informs({ path, measured, baseline: index === 0 ? '' : 'the first' }, `${ratio.toFixed(2)} ×`);
  });
}

async function run(files: readonly string[]): Promise<void> {
  if (files.length === 0) throw new Error('Say which systems: one JSON file each (bench/README.md).');
  const bench = await Bench.open();
  try {
    const provider = await bench.provider({ port: PROVIDER_PORT });
    console.error(`The model answers at ${provider.url}.`);
    console.log(`\n${tableText(await compareSystems(files))}\n`);
  } finally {
    await bench.close();
  }
}

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
