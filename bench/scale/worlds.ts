import pg from 'pg';
import type { Bench } from '../harness/bench.js';
import type { BenchDatabase } from '../harness/database-server.js';
import type { GatewayProcess } from '../harness/gateway-process.js';
import { NEVER_SILENT } from '../harness/seed.js';
import { seedWorld, type World } from './seed-world.js';

/** The person who is erased and the day of retention need this many sessions. */
const FEWEST = 10_000;
const LARGE = Math.max(Number(process.env['BENCH_SCALE_SESSIONS'] ?? 100_000), FEWEST);
const SMALL = Math.max(LARGE / 100, FEWEST);

/** A gateway on a database of this size. */
export interface OpenWorld extends World {
  readonly name: 'small' | 'large';
  readonly database: BenchDatabase;
  readonly gateway: GatewayProcess;
}

export interface Worlds {
  readonly small: OpenWorld;
  readonly large: OpenWorld;
}

/** Opens both sizes. BENCH_SCALE_DATABASES=<url>,<url> names existing databases, the small one first. */
export async function openWorlds(bench: Bench): Promise<Worlds> {
  const given = process.env['BENCH_SCALE_DATABASES']?.split(',') ?? [];
  const small = await openWorld(bench, 'small', SMALL, given[0]);
  return { small, large: await openWorld(bench, 'large', LARGE, given[1]) };
}

export async function closeWorlds({ small, large }: Worlds): Promise<void> {
  for (const { gateway, database } of [small, large]) {
    await gateway.stop();
    await database.drop();
  }
}

async function openWorld(
  bench: Bench,
  name: OpenWorld['name'],
  sessions: number,
  url: string | undefined,
): Promise<OpenWorld> {
  const database = url === undefined ? await seeded(bench, sessions) : existing(url);
  return { name, sessions, database, gateway: await gatewayOn(bench, database) };
}

/** Never deletes or ends the seeded sessions by itself. */
export function gatewayOn(bench: Bench, database: BenchDatabase): Promise<GatewayProcess> {
  return bench.gateway({ databaseUrl: database.url, environment: NEVER_SILENT });
}

async function seeded(bench: Bench, sessions: number): Promise<BenchDatabase> {
  const database = await bench.database();
  const startedAt = performance.now();
  await seedWorld(database, { sessions });
  const secs = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.error(`scale: ${sessions.toLocaleString('en')} sessions are there after ${secs} s`);
  return database;
}

/** An existing database, which is not dropped. */
function existing(url: string): BenchDatabase {
  const query = async <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };
  return { url, query, drop: () => Promise.resolve() };
}
