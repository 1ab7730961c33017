import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Row } from '../benchmark.js';
import type { Bench } from '../harness/bench.js';
import { type Ask, slot } from '../harness/compare.js';
import { atMost, informs, short } from '../harness/rows.js';
import { command } from './commands.js';
import { PERSON, sessionId } from './seed-world.js';
import type { OpenWorld, Worlds } from './worlds.js';

/** One day's share of a million sessions a year. */
const DAY_SESSIONS = 2740;
const LOOK_MS = 100;
/** The job begins at a random moment of a minute. */
const RETENTION_LIMIT_MS = 300_000;
const NEIGHBOURS = 8;
const MOST = 1.5;

export interface Upkeep {
  readonly secs: number;
  /** Turns of other users: median and 99th percentile, before and during the work. */
  readonly turns: { readonly before: Waits; readonly during: Waits };
  readonly locks: Locks;
}
interface Waits {
  readonly p50Ms: number;
  readonly p99Ms: number;
}
interface Locks {
  readonly longestTransactionMs: number;
  readonly mostWaiting: number;
}

/** What is deleted in each world while other users talk: a day by retention, and a person by the command. */
export async function upkeepRows(bench: Bench, { small, large }: Worlds): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const works = [
    [`Retention of a day: ${DAY_SESSIONS} sessions, 27,400 messages`, retention],
    ['Erasure of a person: 1,000 sessions, 10,000 messages', erasure],
  ] as const;
  for (const [what, work] of works) {
    const few = await work(bench, small);
    const many = await work(bench, large);
    rows.push(...rowsOf(what, few, many));
    for (const { path, measured, value } of rows.slice(-3))
      console.error(`scale: ${path}: ${measured} ${value}`);
  }
  return [...rows, ...(await deadRows(large))];
}

function rowsOf(what: string, few: Upkeep, many: Upkeep): Row[] {
  const text = ({ turns: { during, before } }: Upkeep) =>
    `p50 ${short(during.p50Ms)} ms, p99 ${short(during.p99Ms)} ms; before ${short(before.p50Ms)} and ${short(before.p99Ms)} ms`;
  const locks = ({ locks: { longestTransactionMs: ms, mostWaiting: n } }: Upkeep) =>
    `longest transaction ${short(ms)} ms, at most ${n} waiting for a lock`;
  const timed = { path: what, measured: `${short(many.secs)} s`, baseline: `${short(few.secs)} s` };
  const { during, before } = many.turns;
  return [
    atMost(timed, many.secs / few.secs, MOST, '×'),
    informs({ path: `${what}: locks`, measured: locks(many), baseline: locks(few) }, ''),
    atMost(
      { path: `${what}: turns of others meanwhile`, measured: text(many), baseline: text(few) },
      during.p50Ms / before.p50Ms,
      MOST,
      '×',
    ),
  ];
}

async function retention(bench: Bench, world: OpenWorld): Promise<Upkeep> {
  const { database, gateway } = world;
  await database.query(
    `UPDATE sessions SET ended_at = now() - interval '800 days' WHERE id IN (
       SELECT id FROM sessions WHERE status = 'terminated' AND user_id <> '${PERSON}' ORDER BY created_at LIMIT ${DAY_SESSIONS})`,
  );
  const left = async (): Promise<number> => {
    const [row] = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM sessions WHERE status = 'terminated' AND ended_at < now() - interval '700 days'`,
    );
    return row?.n ?? 0;
  };
  const all = await left();
  await setRetention(gateway, 700);
  await until(async () => (await left()) < all);
  const upkeep = await watched(bench, world, () => until(async () => (await left()) === 0));
  await setRetention(gateway, 0);
  return upkeep;
}

async function setRetention({ portB, headers }: OpenWorld['gateway'], days: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${portB}/api/v1/config`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ 'agent.session_retention_days': days }),
  });
  if (!answer.ok) throw new Error(`The retention was not set: ${answer.status} ${await answer.text()}`);
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + RETENTION_LIMIT_MS; performance.now() < end; await sleep(LOOK_MS))
    if (await isTrue()) return;
  throw new Error('It did not happen in time.');
}

function erasure(bench: Bench, world: OpenWorld): Promise<Upkeep> {
  return watched(bench, world, async () => {
    await command(bench, world, ['user', 'erase', PERSON, '--yes']);
  });
}

/** Does the work while other users talk, and watches locks and transactions. */
export async function watched(bench: Bench, world: OpenWorld, work: () => Promise<void>): Promise<Upkeep> {
  const target = { target: world.gateway, plan: () => talk(world) };
  await slot(bench, target, 1000);
  const before = await slot(bench, target, 3000);
  const watch = await watchLocks(world);
  const startedAt = performance.now();
  const over = work().then(() => true);
  const during: Waits[] = [];
  do during.push(await slot(bench, target, 1000));
  while (!(await Promise.race([over, sleep(1, false)])));
  const secs = (performance.now() - startedAt) / 1000;
  return { secs, turns: { before, during: worstOf(during) }, locks: await watch.stop() };
}

/** The mean of the medians, and the worst 99th percentile. */
function worstOf(slots: readonly Waits[]): Waits {
  return {
    p50Ms: slots.reduce((sum, { p50Ms }) => sum + p50Ms, 0) / slots.length,
    p99Ms: Math.max(...slots.map(({ p99Ms }) => p99Ms)),
  };
}

/** Turns in active sessions of other users. */
export function talk({ sessions }: Pick<OpenWorld, 'sessions'>): Ask {
  const paths = Array.from(
    { length: NEIGHBOURS },
    (_, n) => `/api/v1/sessions/${sessionId(sessions - 10 - n)}/messages`,
  );
  return {
    clients: NEIGHBOURS,
    method: 'POST',
    paths,
    ownPaths: true,
    body: '{"content":"How fast is this?"}',
  };
}

async function watchLocks({ database }: OpenWorld): Promise<{ stop(): Promise<Locks> }> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  let [longestTransactionMs, mostWaiting, isOver] = [0, 0, false];
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await client.query<{ ms: number; waiting: number }>(
        `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)) * 1000, 0)::float8 AS ms,
           (count(*) FILTER (WHERE wait_event_type = 'Lock'))::int AS waiting
         FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      );
      longestTransactionMs = Math.max(longestTransactionMs, rows[0]?.ms ?? 0);
      mostWaiting = Math.max(mostWaiting, rows[0]?.waiting ?? 0);
      await sleep(LOOK_MS / 2);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
      await client.end();
      return { longestTransactionMs, mostWaiting };
    },
  };
}

/** Dead rows that are not vacuumed yet, and when they will be. */
async function deadRows({ database }: OpenWorld): Promise<Row[]> {
  const rows = await database.query<{ name: string; dead: number; live: number }>(
    `SELECT relname AS name, n_dead_tup::float8 AS dead, n_live_tup::float8 AS live FROM pg_stat_user_tables
     WHERE n_dead_tup > 100 ORDER BY n_dead_tup DESC LIMIT 6`,
  );
  return rows.map(({ name, dead, live }) =>
    informs(
      {
        path: `Dead rows of ${name} afterwards`,
        measured: dead.toLocaleString('en'),
        baseline: `${live.toLocaleString('en')} live`,
      },
      `${((100 * dead) / (live + dead)).toFixed(2)} %`,
    ),
  );
}
