import { agents } from './agents.bench.js';
import { auditList } from './audit-list.bench.js';
import { backup } from './backup.bench.js';
import type { Benchmark, Row } from './benchmark.js';
import { completions } from './completions.bench.js';
import { Bench } from './harness/bench.js';
import { tableText } from './harness/table.js';
import { hostileBodies } from './hostile-bodies.bench.js';
import { hostileFrames } from './hostile-frames.bench.js';
import { identity } from './identity.bench.js';
import { idle } from './idle.bench.js';
import { logStreams } from './log-streams.bench.js';
import { memory } from './memory.bench.js';
import { memoryRecall } from './memory-recall.bench.js';
import { messageHistory } from './message-history.bench.js';
import { plugins } from './plugins.bench.js';
import { rateLimits } from './rate-limits.bench.js';
import { scale } from './scale.bench.js';
import { sessionLists } from './session-lists.bench.js';
import { sessions } from './sessions.bench.js';
import { soak } from './soak.bench.js';
import { start } from './start.bench.js';
import { streaming } from './streaming.bench.js';
import { toolServers } from './tool-servers.bench.js';
import { turnCosts } from './turn-costs.bench.js';
import { turns } from './turns.bench.js';
import { usage } from './usage.bench.js';
import { viewers } from './viewers.bench.js';
import { webhooks } from './webhooks.bench.js';
import { webhooksNeighbours } from './webhooks-neighbours.bench.js';

/** In the order in which they run. `npm run bench -- <part of a name>` runs those that match. */
const benchmarks: readonly Benchmark[] = [
  start,
  sessions,
  sessionLists,
  messageHistory,
  auditList,
  usage,
  rateLimits,
  identity,
  hostileBodies,
  hostileFrames,
  turns,
  turnCosts,
  agents,
  completions,
  streaming,
  toolServers,
  plugins,
  webhooks,
  webhooksNeighbours,
  logStreams,
  idle,
  memory,
  memoryRecall,
  soak,
  scale,
  backup,
  viewers,
];

async function run(filters: readonly string[]): Promise<void> {
  const chosen = benchmarks.filter(
    ({ name, onlyByName }) =>
      filters.every((filter) => name.includes(filter)) && (onlyByName !== true || filters.includes(name)),
  );
  if (chosen.length === 0) {
    const names = benchmarks.map(({ name }) => name).join(', ');
    throw new Error(`No benchmark is called ${filters.join(' ')}. There are: ${names}.`);
  }
  const bench = await Bench.open();
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopping.abort();
      void bench.close().finally(() => process.exit(130));
    });
  }
  try {
    for (const benchmark of chosen) {
      const rows = await timed(benchmark, bench);
      // A benchmark that was interrupted has no result. The signal handler ends the process.
      if (stopping.signal.aborted) return;
      // At once, so that a run that ends early keeps what it has measured.
      if (rows.length > 0) console.log(`\n${tableText(rows)}\n`);
    }
  } finally {
    await bench.close();
  }
}

/** Runs one benchmark. A failure is reported and makes the run fail at its end; the others still run. */
async function timed(benchmark: Benchmark, bench: Bench): Promise<readonly Row[]> {
  const { name } = benchmark;
  const startedAt = performance.now();
  try {
    return await benchmark.run(bench);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name} failed: ${messageOf(error)}`);
    await bench.clear();
    return [];
  } finally {
    console.error(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(messageOf(error));
  process.exitCode = 1;
});
