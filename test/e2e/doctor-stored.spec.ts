import { diagnosis, type Finding, onItsMachine, overHttp } from '../harness/doctor.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
let own: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  [{ id: own }] = (await gateway.database.query<{ id: string }>('SELECT id FROM api_tokens')) as [
    { id: string },
  ];
});
afterAll(() => gateway.stop());

const rows = (sql: string, values?: unknown[]) => gateway.database.query(sql, values);

/** Asks in both ways, which must report the same. */
async function found(name: string): Promise<Finding | undefined> {
  let finding: Finding | undefined;
  // Repeats, because what many callers see may be two seconds old.
  await eventually(async () => {
    const [remote, local] = await Promise.all([
      diagnosis(overHttp(gateway)),
      diagnosis(onItsMachine(gateway)),
    ]);
    const plain = (one: Finding | undefined) =>
      one && { ...one, detail: one.detail.replace(/\d+ s\b/g, 'N s') };
    expect(plain(remote.part(name))).toEqual(plain(local.part(name)));
    finding = local.part(name);
  });
  return finding;
}

describe('replicas', () => {
  const replica = (id: string, version: string, skewMs: number, silentSecs: number) =>
    rows(
      `INSERT INTO replicas (id, version, clock_skew_ms, seen_at) VALUES ($1, $2, $3, now() - make_interval(secs => $4))`,
      [id, version, skewMs, silentSecs],
    );
  afterEach(() => rows(`DELETE FROM replicas WHERE id LIKE 'other%'`));

  test('each says that it serves, and none that has stopped does', async () => {
    await eventually(async () => expect((await found('replicas'))?.detail).toMatch(/^1 of version \d/));
    const second = await startTestGateway({ database: gateway.database });
    await eventually(async () => expect((await found('replicas'))?.detail).toMatch(/^2 of version \d/));
    await second.stop();
    expect(await found('replicas')).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^1 of version/) as string,
    });
  });

  test('of different versions: a warning that names who runs which', async () => {
    await replica('other:1', '9.9.9', 0, 1);
    expect(await found('replicas')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/^they run different versions: .*9\.9\.9 \(other:1\)/) as string,
      advice: expect.stringContaining('restart the older ones') as string,
    });
  });

  test('whose clock differs: a failure that names it and by how much', async () => {
    await replica('other:2', '0.1.0', -7300, 1);
    expect(await found('replicas')).toMatchObject({
      status: 'failing',
      detail: "their clocks differ from the database's: other:2 (-7300 ms)",
      advice: expect.stringContaining('NTP') as string,
    });
  });

  test('that ended without stopping: a warning that says when', async () => {
    await replica('other:3', '0.1.0', 0, 600);
    expect(await found('replicas')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(
        'ended within the last hour without stopping: other:3 (10 min ago)',
      ) as string,
      advice: expect.stringContaining('out of memory') as string,
    });
  });
});

describe('tokens', () => {
  const revokeOthers = () => rows('UPDATE api_tokens SET revoked_at = now() WHERE id <> $1', [own]);
  beforeAll(revokeOthers);
  afterEach(revokeOthers);
  const age = (name: string, days: number) =>
    rows(`UPDATE api_tokens SET created_at = created_at - make_interval(days => $2) WHERE name = $1`, [
      name,
      days,
    ]);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

  test('one that expires within the week, and one that expired today, are named with how to renew them', async () => {
    for (const [name, days] of [
      ['nightly', 3],
      ['gone', 0.00002],
    ] as const) {
      await gateway.mint({ name, scopes: ['sessions:read'], expiresAt: inDays(days) });
      await age(name, 60);
    }
    await eventually(async () => expect((await found('tokens'))?.detail).toContain('expired'));
    expect(await found('tokens')).toEqual({
      name: 'tokens',
      status: 'warning',
      detail: 'expired within the last day: gone; expire within 7 days: nightly',
      advice: 'Renew one that is still needed with "agent-gateway auth token rotate <name>".',
    });
  });

  test('one that was made for a day only is meant to end', async () => {
    await gateway.mint({ name: 'link', scopes: ['sessions:read'], expiresAt: inDays(0.5) });
    expect(await found('tokens')).toMatchObject({ status: 'ok', advice: null });
  });

  test('more than one that may do everything for ever, and one of them that nobody uses', async () => {
    await gateway.mint({ name: 'root2' });
    expect(await found('tokens')).toMatchObject({
      status: 'warning',
      detail: 'may do everything and never expire: root2, test',
      advice: expect.stringContaining('--preset operator') as string,
    });
    await age('root2', 90);
    expect((await found('tokens'))?.detail).toBe(
      'may do everything, never expire and were not used for 30 days: root2',
    );
  });
});

describe('turns', () => {
  afterEach(() => rows('DELETE FROM turns'));
  const turns = async (count: number, columns: Readonly<Record<string, string>>) => {
    const { body } = await gateway.b.post<{ id: string }>('/sessions');
    const names = Object.keys(columns).join(', ');
    await rows(
      `INSERT INTO turns (id, session_id, user_message_id, ${names})
       SELECT 'turn_of_' || $1 || n, $1, 'msg_' || n, ${Object.values(columns).join(', ')} FROM generate_series(1, $2::int) AS n`,
      [body.id, count],
    );
  };
  const ended = { started_at: 'now()', ended_at: 'now()' };

  test('many that fail: how many, and why most of them', async () => {
    await turns(8, { status: `'failed'`, reason: `'provider_overloaded'`, ...ended });
    await turns(2, { status: `'completed'`, ...ended });
    expect(await found('turns')).toMatchObject({
      status: 'warning',
      detail: '8 of the 10 that ended within the last 15 minutes failed, most for provider_overloaded',
      advice: expect.stringContaining('agent-gateway logs --level error') as string,
    });
  });

  test('messages that wait although their session is free', async () => {
    await turns(3, {
      status: `'waiting'`,
      created_at: `now() - interval '5 minutes'`,
      wait_until: `now() + interval '1 hour'`,
    });
    expect(await found('turns')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(
        /^3 messages wait although their session is free, the oldest for 5 min$/,
      ) as string,
      advice: expect.stringContaining('limits.turns_per_replica') as string,
    });
  });
});

test('a schema without a migration: both say so, and how to run it', async () => {
  const [row] = await gateway.database.query<{ name: string }>(
    `DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations) RETURNING *`,
  );
  try {
    const local = await diagnosis(onItsMachine(gateway));
    expect([local.code, local.part('database')]).toEqual([
      1,
      {
        name: 'database',
        status: 'failing',
        detail: 'its schema is older than this program: 1 migrations are missing',
        advice: 'Run "agent-gateway migrate", or start the gateway.',
      },
    ]);
    await eventually(async () =>
      expect((await diagnosis(overHttp(gateway))).part('gateway')).toMatchObject({
        status: 'failing',
        detail: expect.stringMatching(/^1 of \d+ migrations have not run$/) as string,
        advice: expect.stringContaining('agent-gateway migrate') as string,
      }),
    );
  } finally {
    await rows(
      'INSERT INTO schema_migrations SELECT * FROM jsonb_populate_record(NULL::schema_migrations, $1)',
      [row],
    );
  }
});
