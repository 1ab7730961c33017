import { createDataSource } from '../ormconfig.js';
import { MemoryStore } from '../src/areas/memory/memory.store.js';
import { searchTerms } from '../src/areas/memory/terms.js';
import { Database } from '../src/platform/database/database.js';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { atMost, short } from './harness/rows.js';
import { vacuum } from './harness/seed.js';
import { Prose, seedMemories } from './harness/seed-memories.js';
import { percentile } from './harness/statistics.js';

const MANY = 100_000;
const FEW = 1000;
const TOP_K = 5;
const QUESTIONS = 1000;
const WARM_UP = 100;
const WORDS_A_QUESTION = 8;
const MAX_MS = 25;

/** The pool of one gateway. */
const POOL = { size: 10, connectTimeoutMs: 10_000, statementTimeoutMs: 0, onIdleError: () => undefined };

/** Finding a user's memories, as before every turn: extract the words, run the statement, read the rows. */
export const memoryRecall: Benchmark = { name: 'memory-recall', run };

interface Place {
  readonly label: string;
  readonly users: readonly string[];
  readonly each: number;
}

const ONE_USER: Place = { label: 'one user', users: ['ada'], each: MANY };
const MANY_USERS: Place = {
  label: '1,000 users',
  users: Array.from({ length: 1000 }, (_, n) => `user-${n}`),
  each: MANY / 1000,
};
const SMALL: Place = { label: 'one user', users: ['ada'], each: FEW };

async function run(bench: Bench): Promise<readonly Row[]> {
  const small = await timesAt(bench, SMALL);
  const rows: Row[] = [];
  for (const place of [ONE_USER, MANY_USERS]) {
    const large = await timesAt(bench, place);
    for (const clients of [1, 8] as const) {
      const row = {
        path: `Recall, ${MANY.toLocaleString('en')} memories of ${place.label}, ${clients} at once: p95`,
        measured: timesText(large[clients]),
        baseline: `at ${FEW.toLocaleString('en')}: ${timesText(small[clients])}`,
      };
      rows.push(atMost(row, percentile(large[clients], 0.95), MAX_MS, 'ms'));
    }
  }
  return rows;
}

async function timesAt(bench: Bench, place: Place): Promise<Record<1 | 8, Float64Array>> {
  const database = await bench.database();
  await seedMemories(database, place);
  await vacuum(database);
  const source = await createDataSource({ url: database.url }, POOL).initialize();
  try {
    const store = new MemoryStore(new Database(source));
    return { 1: await times(store, place, 1), 8: await times(store, place, 8) };
  } finally {
    await source.destroy();
    await database.drop();
  }
}

/** How long each recall took, in milliseconds, ascending. */
async function times(store: MemoryStore, { users }: Place, clients: number): Promise<Float64Array> {
  const prose = new Prose();
  const questions = Array.from({ length: WARM_UP + QUESTIONS }, () => prose.words(WORDS_A_QUESTION));
  const took: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let at = next++; at < questions.length; at = next++) {
      const userId = users[at % users.length] ?? '';
      const startedAt = performance.now();
      const context = { sessionId: `s-${userId}`, userId };
      const found = await store.recall(context, searchTerms(questions[at] ?? ''), TOP_K);
      if (found.length !== TOP_K) throw new Error(`${found.length} memories were found.`);
      if (at >= WARM_UP) took.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return Float64Array.from(took).sort();
}

function timesText(ascending: Float64Array): string {
  const at = (share: number): string => `${short(percentile(ascending, share))} ms`;
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}`;
}
