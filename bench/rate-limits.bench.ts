import { MemoryRateLimiter } from '../src/platform/rate-limits/memory-rate-limiter.js';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { type Comparison, type Contender, compare } from './harness/compare.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { atMost, figuresText, informs } from './harness/rows.js';
import { NEVER_SILENT, seedSessions, vacuum } from './harness/seed.js';
import { median } from './harness/statistics.js';
import { TIMING } from './harness/timing.js';

const TOKENS = 1000;
const TAKES = 500_000;

/** What rate limiting costs a request: in memory, and in PostgreSQL, where all replicas share the buckets. */
export const rateLimits: Benchmark = { name: 'rate-limits', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const ids = await seedSessions(database, 1000);
  await vacuum(database);
  const gateway = (store: string): Promise<GatewayProcess> =>
    bench.gateway({
      databaseUrl: database.url,
      environment: { ...NEVER_SILENT, GATEWAY__RATE_LIMITS__STORE: store },
    });
  const [memory, postgres] = [await gateway('memory'), await gateway('postgres')];
  const paths = ids.map((id) => `/api/v1/sessions/${id}`);
  const rows: Row[] = [inMemory()];
  for (const clients of [1, 64]) {
    const contender = (target: GatewayProcess): Contender => ({
      target,
      plan: () => ({ clients, method: 'GET', paths }),
    });
    const contenders = { memory: contender(memory), postgres: contender(postgres) };
    rows.push(added(clients, await compare(bench, contenders, TIMING)));
  }
  for (const target of [memory, postgres]) await target.stop();
  await database.drop();
  return rows;
}

function added(clients: number, comparison: Comparison<'memory' | 'postgres'>): Row {
  const [memory, postgres] = [comparison.figures('memory'), comparison.figures('postgres')];
  const row = {
    path: `Rate limit in PostgreSQL, GET /sessions/:id, ${clients === 1 ? 'one client' : `${clients} clients`}`,
    measured: figuresText(postgres),
    baseline: `in memory: ${figuresText(memory)}`,
  };
  if (clients === 1) return atMost(row, postgres.p50Ms - memory.p50Ms, 1, 'ms added to p50');
  const ratio = comparison.ratio('postgres', 'memory');
  return informs(row, `${ratio.toFixed(2)} ×`);
}

/** Measured without a request, beside which it is too small to be seen. */
function inMemory(): Row {
  const limiter = new MemoryRateLimiter();
  const keys = Array.from({ length: TOKENS }, (_, i) => `token:tok_${i}|sessions_read`);
  const slots = Array.from({ length: TIMING.rounds }, () => {
    const startedAt = performance.now();
    for (let i = 0; i < TAKES; i += 1) limiter.consume(keys[i % TOKENS] as string, 1_000_000);
    return ((performance.now() - startedAt) * 1000) / TAKES;
  });
  const row = {
    path: `Rate limit in memory, ${TOKENS} tokens in turn`,
    measured: `${TAKES} requests for a token`,
    baseline: '',
  };
  return atMost(row, median(slots), 10, 'µs');
}
