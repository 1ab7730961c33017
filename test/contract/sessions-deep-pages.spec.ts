import { Client } from 'pg';
import { listStatement } from '../../src/areas/sessions/session-list.sql.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { idIn, type SessionListWire } from './support/faces.js';

/** One every minute and a half, so that some hours are full and some are at the border of two pages. */
const SEEDED = 8000;
const PAGE = 500;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.database.query(`
    INSERT INTO sessions (id, channel, user_id, status, metadata, created_at, quiet_since, ended_at)
    SELECT 'sess_' || lpad(n::text, 26, '0'), CASE WHEN n % 4 = 0 THEN 'few' ELSE 'many' END, 'crowd', status, '{}',
      now() - make_interval(secs => n * 90), now() - make_interval(secs => silent_secs),
      CASE WHEN status = 'terminated' THEN now() END
    FROM (
      SELECT n, (ARRAY ['active', 'active', 'active', 'idle', 'terminated'])[1 + n % 5] AS status,
        CASE n % 40 WHEN 0 THEN 4000 WHEN 1 THEN 600 WHEN 2 THEN 4000 ELSE 0 END AS silent_secs
      FROM generate_series(1, ${SEEDED}) AS n
    ) AS made`);
  await gateway.database.query('VACUUM ANALYZE sessions');
});
afterAll(() => gateway.stop());

/** The expected list, by the rows: silence counts from the seeded time, whether the sweep has recorded it or not. */
async function expected(where: string): Promise<string[]> {
  const rows = await gateway.database.query<{ id: string }>(`
    SELECT id FROM (
      SELECT *, CASE
        WHEN status = 'terminated' OR quiet_since <= now() - interval '3600 s' THEN 'terminated'
        WHEN status = 'idle' OR quiet_since <= now() - interval '300 s' THEN 'idle' ELSE 'active' END AS state
      FROM sessions
    ) AS told WHERE ${where} ORDER BY created_at DESC, id DESC`);
  return rows.map(({ id }) => id);
}

async function expectPages(profile: 'a' | 'b', query: string, where: string): Promise<void> {
  const all = await expected(where);
  const nineTenths = Math.floor(all.length * 0.9);
  const offsets = [
    950,
    999,
    1000,
    1001,
    1500,
    nineTenths,
    Math.max(0, all.length - 3),
    all.length,
    all.length + 5,
  ];
  for (const offset of offsets) {
    const { body } = await gateway[profile].get<SessionListWire>(
      `/sessions?${query}limit=${PAGE}&offset=${offset}`,
    );
    expect([offset, body.total]).toEqual([offset, all.length]);
    expect(body.sessions.map(idIn)).toEqual(all.slice(offset, offset + PAGE));
  }
}

const LISTS = [
  ['a', 'status=active&', `state <> 'terminated'`],
  ['a', 'status=completed&', `state = 'terminated'`],
  ['a', 'status=all&', 'true'],
  ['b', 'status=active&', `state = 'active'`],
  ['b', 'status=idle&', `state = 'idle'`],
  ['b', 'status=terminated&channel=many&', `state = 'terminated' AND channel = 'many'`],
] as const;

test.each(LISTS)('Profile %s, "%s": a page far into the list follows the one before it', expectPages);

/** Less than the cost that PostgreSQL assumes for planning. */
const PLANNING = 1;

/** The cost that PostgreSQL expects of a call, with a custom plan and with the generic plan. */
async function costs(
  client: Client,
  { text, order }: ReturnType<typeof listStatement>,
  offset: number,
): Promise<Record<string, number>> {
  await client.query(`PREPARE list AS ${text}`);
  const given: Record<string, number> = { idleSecs: 300, timeoutSecs: 3600, most: 50, offset };
  const values = order.map((name) => given[name]).join(', ');
  const found: Record<string, number> = {};
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: { 'Total Cost': number } }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE list (${values})`,
    );
    found[mode] = rows[0]?.['QUERY PLAN'][0].Plan['Total Cost'] ?? Number.NaN;
  }
  await client.query('DEALLOCATE list');
  return found;
}

/** Where a custom plan is cheaper, PostgreSQL plans each call anew, and planning takes longer than the page. */
test('no list is planned anew for each call, however many rows there are', async () => {
  const client = new Client({ connectionString: gateway.database.directUrl });
  await client.connect();
  try {
    for (const status of ['active', 'idle', 'terminated', 'live', 'all'] as const) {
      for (const isDeep of [false, true]) {
        const list = listStatement({ status, byChannel: false, byUser: false, byAgents: false, isDeep });
        const { force_custom_plan: custom, force_generic_plan: generic } = await costs(
          client,
          list,
          isDeep ? 2000 : 0,
        );
        expect([status, isDeep, (generic ?? 0) - (custom ?? 0) < PLANNING]).toEqual([status, isDeep, true]);
      }
    }
  } finally {
    await client.end();
  }
});

test('the hours of the tally stay those of the sessions, folded or not', async () => {
  for (let count = 0; count < 3; count += 1) await gateway.a.post('/sessions', {});
  const { body } = await gateway.a.get<SessionListWire>('/sessions?limit=1');
  await gateway.b.delete(`/sessions/${idIn(body.sessions[0] ?? {})}`);
  await gateway.database.query(`UPDATE sessions SET status = 'terminated' WHERE status = 'idle'`);
  await gateway.database.query(`DELETE FROM sessions WHERE id < 'sess_' || lpad('50', 26, '0')`);
  await eventually(async () => {
    const [size] = await gateway.database.query<{ rows: string }>(
      'SELECT count(*) AS rows FROM session_tally',
    );
    expect(Number(size?.rows)).toBeLessThan(100);
  });
  const [differences] = await gateway.database.query<{ n: string }>(`
    SELECT count(*) AS n FROM (
      SELECT hour, channel, status, sum(n) AS n FROM (
        SELECT * FROM session_hours
        UNION ALL SELECT hour, channel, status, n FROM session_tally WHERE hour IS NOT NULL
        UNION ALL SELECT floor(extract(epoch FROM created_at) / 3600)::integer, channel, status, -1 FROM sessions
      ) AS counts GROUP BY 1, 2, 3 HAVING sum(n) <> 0
    ) AS different`);
  expect(Number(differences?.n)).toBe(0);
  for (const [profile, query, where] of LISTS) await expectPages(profile, query, where);
});
