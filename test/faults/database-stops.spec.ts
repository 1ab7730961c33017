import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { silentLogs } from '../../src/platform/logging/logger.js';
import { expectError } from '../contract/support/envelope.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { isAlive, runningPostmaster, until } from '../harness/gateway-process.js';
import { queryAt } from './support/own-database.js';

/** How long the server is down; OUTAGE_SECONDS=20 is the outage of the promise. */
const OUTAGE_MS = Number(process.env['OUTAGE_SECONDS'] ?? 1.5) * 1000;
/** From the database's first response to the gateway's. */
const RECOVERY_MS = 2000;
const WRITERS = 4;
jest.setTimeout(60_000 + OUTAGE_MS);

let dataDir: string;
let server: EmbeddedPostgres;
let gateway: TestGateway;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'agw-stops-'));
  server = await openServer();
  const { host, port, user } = server.connection;
  const url = `postgres://${user}@localhost/postgres?host=${encodeURIComponent(host)}&port=${port}`;
  const query = <Row>(sql: string, values: unknown[] = []) => queryAt<Row>(url, sql, values);
  const drop = () => Promise.resolve();
  gateway = await startTestGateway({ database: { url, directUrl: url, pooledUrl: undefined, query, drop } });
});
afterAll(async () => {
  await gateway.stop();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

function openServer(): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.open({ dataDir, logger: silentLogs.for('test') });
}

/** What callers were told. */
interface Ledger {
  readonly sessions: string[];
  readonly messages: { session: string; id: string }[];
  readonly statuses: Map<number, number>;
}

/** Creates sessions and talks in them, one after the other, until told to stop. */
async function write(ledger: Ledger, signal: AbortSignal): Promise<void> {
  const count = (status: number) => ledger.statuses.set(status, (ledger.statuses.get(status) ?? 0) + 1);
  while (!signal.aborted) {
    const created = await gateway.b.post<{ id: string }>('/sessions', {});
    count(created.status);
    if (created.status !== 201) {
      await sleep(20);
      continue;
    }
    const session = created.body.id;
    ledger.sessions.push(session);
    const said = await gateway.a.post<{ message_id: string }>(`/sessions/${session}/messages`, {
      content: 'Hello',
    });
    count(said.status);
    if (said.status === 200) ledger.messages.push({ session, id: said.body.message_id });
  }
}

async function stopServer(): Promise<void> {
  const pid = runningPostmaster(dataDir);
  // Without notice to its clients, and with recovery at the next start.
  process.kill(pid, 'SIGQUIT');
  await until(() => !isAlive(pid), 10_000);
  await server.close().catch(() => undefined);
}

async function serverAnswers(): Promise<boolean> {
  return gateway.database.query('SELECT 1').then(
    () => true,
    () => false,
  );
}

test('a database that stops for a while: 503, alive, not ready; back within 2 s, and nothing acknowledged is lost', async () => {
  const ledger: Ledger = { sessions: [], messages: [], statuses: new Map() };
  const stopWriting = new AbortController();
  const writers = Array.from({ length: WRITERS }, () => write(ledger, stopWriting.signal));
  await until(() => ledger.messages.length >= 20, 20_000);

  await stopServer();
  await until(async () => (await gateway.operations.get('/readyz')).status === 503, 5000);
  const outageEnds = performance.now() + OUTAGE_MS;
  while (performance.now() < outageEnds) {
    const ready = await gateway.operations.get<{ error: object }>('/readyz');
    expect([ready.status, Object.keys(ready.body.error)]).toEqual([503, ['database']]);
    expect((await gateway.operations.get('/livez')).status).toBe(200);
    for (const profile of ['a', 'b'] as const)
      expectError(profile, await gateway[profile].get('/sessions'), 503, 'internal_error');
    await sleep(100);
  }

  server = await openServer();
  await until(serverAnswers, 20_000);
  const upAt = performance.now();
  await until(async () => (await gateway.operations.get('/readyz')).status === 200, 20_000);
  await until(async () => (await gateway.b.post('/sessions', {})).status === 201, 20_000);
  const recoveryMs = Math.round(performance.now() - upAt);
  figure(['own-calls-only'], {
    what: 'a database that stops',
    for_s: OUTAGE_MS / 1000,
    back_after_s: recoveryMs / 1000,
  });
  expect(recoveryMs).toBeLessThan(RECOVERY_MS);

  const before = ledger.messages.length;
  await until(() => ledger.messages.length >= before + 20, 20_000);
  stopWriting.abort();
  await Promise.all(writers);
  expect([...ledger.statuses.keys()].sort()).toEqual([200, 201, 503]);
  await expectAllKept(ledger);
});

async function expectAllKept({ sessions, messages }: Ledger): Promise<void> {
  const kept = await gateway.database.query<{ id: string }>('SELECT id FROM sessions');
  const said = await gateway.database.query<{ id: string }>('SELECT id FROM messages');
  const [keptIds, saidIds] = [new Set(kept.map(({ id }) => id)), new Set(said.map(({ id }) => id))];
  expect(sessions.filter((id) => !keptIds.has(id))).toEqual([]);
  expect(messages.filter(({ id }) => !saidIds.has(id))).toEqual([]);
}
