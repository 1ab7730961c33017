import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { BenchDatabase } from './harness/database-server.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import type { Helper } from './harness/helper.js';
import { atMost, short } from './harness/rows.js';
import { percentile } from './harness/statistics.js';
import type { ArrivalsAnswer, ArrivalsQuestion } from './webhooks/arrivals-process.js';

const LIVE = 5;
const DEAD = 20;
const EVENTS = 500;
const EVENT_EVERY_MS = 25;
/** Deletes one dead hook and creates another one this often. */
const DELETE_EVERY_MS = 200;
const CHANGE_EVERY_MS = 3000;
const TIMEOUT_MS = 30_000;
const MAX_P99_MS = 250;
const MAX_MS = 2000;

type Receiver = Helper<{ port: number }, ArrivalsQuestion, ArrivalsAnswer>;
type Change = 'stay' | 'stop' | 'kill';

const CASES: readonly { readonly path: string; readonly change: Change }[] = [
  { path: 'First attempts beside dead hooks, two replicas', change: 'stay' },
  { path: 'The same, a replica stops every 3 s', change: 'stop' },
  { path: 'The same, a replica is killed (-9) every 3 s', change: 'kill' },
];

/**
 * How soon first attempts arrive beside twenty receivers that refuse, hang or answer too late, while hooks are
 * deleted and lanes change their owners. With BENCH_AGAINST=<folder> the build there is measured instead.
 */
export const webhooksNeighbours: Benchmark = { name: 'webhooks-neighbours', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const receiver: Receiver = await bench.helper('../webhooks/arrivals-process.js', {});
  await createHooks(database, receiver.ready.port);
  const replicas = new Replicas(bench, database);
  await replicas.start();
  const rows: Row[] = [];
  for (const one of CASES)
    rows.push(...(await measure(one.path, one.change, { database, receiver, replicas })));
  await replicas.stop();
  await receiver.stop();
  await database.drop();
  return rows;
}

interface Parts {
  readonly database: BenchDatabase;
  readonly receiver: Receiver;
  readonly replicas: Replicas;
}

async function measure(path: string, change: Change, parts: Parts): Promise<readonly Row[]> {
  const over = new AbortController();
  const beside = [replaceDeadHooks(parts, over.signal), changeOwners(parts.replicas, change, over.signal)];
  let made = 0;
  for (let event = 0; event < EVENTS; event += 1) {
    made += await parts.replicas.createSession(event);
    await sleep(EVENT_EVERY_MS);
  }
  over.abort();
  await Promise.all(beside);
  const { agesMs, repeated } = await parts.receiver.ask({ deliveries: made * LIVE, withinMs: TIMEOUT_MS });
  const [p50, p99, max] = [percentile(agesMs, 0.5), percentile(agesMs, 0.99), percentile(agesMs, 1)];
  const measured = `${agesMs.length} of ${made * LIVE}, p50 ${short(p50)} ms, ${repeated} twice`;
  const lost = made * LIVE - agesMs.length;
  return [
    atMost({ path: `${path}: p99`, measured, baseline: '' }, p99, MAX_P99_MS, 'ms'),
    atMost({ path: `${path}: max`, measured, baseline: '' }, lost > 0 ? Number.NaN : max, MAX_MS, 'ms'),
  ];
}

async function createHooks(database: BenchDatabase, port: number): Promise<void> {
  for (let n = 0; n < LIVE; n += 1)
    await insertHook(database, `hook_live${n}`, `http://127.0.0.1:${port}/live/${n}`);
  for (let n = 0; n < DEAD; n += 1) await insertHook(database, `hook_dead${n}`, deadUrl(n, port));
}

/** Nobody listens at port 4. */
function deadUrl(n: number, port: number): string {
  return (
    [`http://127.0.0.1:4/`, `http://127.0.0.1:${port}/hang/${n}`, `http://127.0.0.1:${port}/late/${n}`][
      n % 3
    ] ?? ''
  );
}

async function insertHook(database: BenchDatabase, id: string, url: string): Promise<void> {
  await database.query(
    `WITH made AS (INSERT INTO hooks (id, url, events) VALUES ($1, $2, '{session.created}') RETURNING id)
     INSERT INTO hook_lanes (hook_id) SELECT id FROM made`,
    [id, url],
  );
}

async function replaceDeadHooks({ database, receiver }: Parts, signal: AbortSignal): Promise<void> {
  for (let n = DEAD; !signal.aborted; n += 1) {
    const [oldest] = await database.query<{ id: string }>(
      `SELECT id FROM hooks WHERE id LIKE 'hook_dead%' ORDER BY created_at, id LIMIT 1`,
    );
    // Deletes a hook as the API does: its lane is deleted with it.
    await database.query(
      `WITH gone AS (DELETE FROM hooks WHERE id = $1 RETURNING id)
       DELETE FROM hook_lanes USING gone WHERE hook_id = gone.id`,
      [oldest?.id],
    );
    await insertHook(database, `hook_dead_${Date.now()}_${n}`, deadUrl(n, receiver.ready.port));
    await sleep(DELETE_EVERY_MS);
  }
}

async function changeOwners(replicas: Replicas, change: Change, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n += 1) {
    const isOver = await sleep(CHANGE_EVERY_MS, false, { signal }).catch(() => true);
    if (!isOver && change !== 'stay') await replicas.replace(n % 2, change);
  }
}

/** Two gateways on one database. While one of them is replaced, the other one handles everything. */
class Replicas {
  private readonly running: (GatewayProcess | undefined)[] = [undefined, undefined];
  /** The token of the newest gateway, which replaces those of the others. */
  private headers: GatewayProcess['headers'] = {};

  constructor(
    private readonly bench: Bench,
    private readonly database: BenchDatabase,
  ) {}

  async start(): Promise<void> {
    for (const place of [0, 1]) this.running[place] = await this.another();
  }

  async replace(place: number, how: 'stop' | 'kill'): Promise<void> {
    const gone = this.running[place];
    const next = await this.another();
    this.running[place] = next;
    if (gone === undefined) return;
    if (how === 'kill') process.kill(gone.pid, 'SIGKILL');
    await gone.stop();
  }

  /** @returns 1 when the session was created, 0 when the replica went away meanwhile */
  async createSession(n: number): Promise<number> {
    const asked = this.running[n % 2] as GatewayProcess;
    const url = `http://127.0.0.1:${asked.port}/api/v1/sessions`;
    const answer = await fetch(url, { method: 'POST', headers: this.headers }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status === 201 ? 1 : 0;
  }

  async stop(): Promise<void> {
    for (const gateway of this.running) await gateway?.stop();
  }

  private async another(): Promise<GatewayProcess> {
    const gateway = await this.bench.gateway({
      databaseUrl: this.database.url,
      checkout: process.env['BENCH_AGAINST'],
      environment: { GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always' },
    });
    this.headers = gateway.headers;
    return gateway;
  }
}
