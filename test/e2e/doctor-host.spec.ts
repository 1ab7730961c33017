import type * as Files from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DataSource } from 'typeorm';
import type { PooledDataSource } from '../../src/platform/database/data-source.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { diagnosis, onItsMachine, overHttp } from '../harness/doctor.js';
import { eventually } from '../harness/eventually.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let relay: FaultProxy;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
  relay = await FaultProxy.to(database.directUrl);
  gateway = await startTestGateway({
    database: { ...database, url: relay.url },
    env: { GATEWAY__DATABASE__POOL_SIZE: '8', GATEWAY__DATABASE__CONNECT_TIMEOUT_MS: '4000' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await relay.cut();
  await database.drop();
});

/** The real module, whose functions can be replaced. */
const files = jest.requireActual<typeof Files>('node:fs/promises');

const remote = () => diagnosis(overHttp(gateway));
const local = (more: Readonly<Record<string, string>> = {}) => diagnosis(onItsMachine(gateway, more));

describe('the database', () => {
  test('that answers late: how late, from both sides', async () => {
    relay.slow({ latencyMs: 300 });
    try {
      for (const ask of [remote, local])
        await eventually(async () =>
          expect((await ask()).part('database')).toMatchObject({
            status: 'warning',
            detail: expect.stringMatching(/^it answers within ([3-9]\d\d|\d{4,}) ms; /) as string,
            advice: 'Raise database.pool_size, add replicas, or look for what loads the database.',
          }),
        );
    } finally {
      await relay.mend();
    }
  });

  test('whose connections are all in use: over HTTP the reason in place of the report, and what can be seen from here', async () => {
    const { pool } = gateway.started.app.get<PooledDataSource>(DataSource, { strict: false });
    const lent = await Promise.all(Array.from({ length: 8 }, () => pool.connect()));
    try {
      const { code, parts, part } = await remote();
      expect([code, parts[0]]).toMatchObject([
        1,
        {
          name: 'connection',
          status: 'failing',
          advice: expect.stringContaining('has no connection left') as string,
        },
      ]);
      // The database itself is fine.
      expect((await local()).part('database')?.status).toBe('ok');
      expect(part('configuration')).toBeDefined();
    } finally {
      for (const client of lent) client.release();
    }
  });

  test('that is away: over HTTP that it is, here why', async () => {
    await relay.cut();
    try {
      const away = await remote();
      expect([away.code, away.parts[0]]).toMatchObject([
        1,
        { name: 'connection', advice: expect.stringContaining('its database is away') as string },
      ]);
      const here = await local();
      expect([here.code, here.part('database')]).toMatchObject([
        1,
        {
          status: 'failing',
          detail: expect.stringContaining('ECONNREFUSED') as string,
          advice: 'Look at the PostgreSQL server and at DATABASE_URL or GATEWAY_DATA_DIR.',
        },
      ]);
      expect(here.part('gateway')?.detail).toContain('is not ready (503)');
    } finally {
      await relay.mend();
    }
  });

  test('of an old version is refused, with the version that is needed', async () => {
    const old = await createTestDatabase();
    try {
      await old.query(`CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS $$
        SELECT CASE $1 WHEN 'server_version_num' THEN '130014' ELSE pg_catalog.current_setting($1) END $$`);
      await old.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`,
      );
      expect((await local({ DATABASE_URL: old.directUrl })).part('database')).toMatchObject({
        status: 'failing',
        detail: 'PostgreSQL 13 is too old: the gateway needs version 14 or later.',
      });
    } finally {
      await old.drop();
    }
  });
});

test('a clock that differs from that of the database, from both sides', async () => {
  const ahead = await createTestDatabase();
  await ahead.query('CREATE SCHEMA ahead');
  await ahead.query(`CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
    SELECT pg_catalog.clock_timestamp() + interval '10 s' $$`);
  await ahead.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = ahead, pg_catalog, public', current_database()); END $$`,
  );
  const askew = await startTestGateway({ database: ahead });
  try {
    for (const [variables, here] of [
      [overHttp(askew), 'this replica'],
      [onItsMachine(askew), 'this computer'],
    ] as const) {
      const { code, part } = await diagnosis(variables);
      expect([code, part('clock')]).toMatchObject([
        1,
        {
          status: 'failing',
          detail: expect.stringMatching(
            new RegExp(`^${here} and the database differ by (9[89]|10[0-2])\\d\\d\\d? ms$`),
          ) as string,
          advice: 'Let both hosts follow a time server (NTP).',
        },
      ]);
    }
    // The finding is also reported for all replicas.
    await eventually(async () =>
      expect((await diagnosis(onItsMachine(askew))).part('replicas')).toMatchObject({ status: 'failing' }),
    );
  } finally {
    await askew.stop();
    await ahead.drop();
  }
});

describe('a clock of whoever asks', () => {
  let late: Server;
  beforeAll(async () => {
    late = createServer((request, response) => {
      void fetch(`${overHttp(gateway)['AGENT_GATEWAY_URL']}${request.url}`, {
        headers: { authorization: request.headers.authorization ?? '' },
      }).then(async (answer) => {
        response.writeHead(answer.status, { date: new Date(Date.now() - 90_000).toUTCString() });
        response.end(await answer.text());
      });
    });
    await new Promise<void>((listening) => late.listen(0, '127.0.0.1', listening));
  });
  afterAll(() => new Promise((closed) => late.close(closed)));

  test('that differs from that of the gateway', async () => {
    const url = `http://127.0.0.1:${(late.address() as AddressInfo).port}`;
    const { part } = await diagnosis({ ...overHttp(gateway), AGENT_GATEWAY_URL: url });
    expect(part('your clock')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/differ by (89|9[01]) s$/) as string,
      advice: 'Let both follow a time server (NTP).',
    });
  });
});

describe('the volume of the data folder', () => {
  afterEach(() => jest.restoreAllMocks());
  const withFree = (bytes: number) =>
    jest
      .spyOn(files, 'statfs')
      .mockResolvedValue({ bsize: 1, bavail: bytes } as Awaited<ReturnType<typeof Files.statfs>>);

  test.each([
    ['nearly full', 1.5 * 2 ** 30, 'warning', 0],
    ['as good as full', 0.1 * 2 ** 30, 'failing', 1],
  ])('%s, from both sides', async (_how, bytes, status, code) => {
    withFree(bytes);
    for (const ask of [remote, local])
      await eventually(async () => {
        const found = await ask();
        expect([found.code, found.part('disk')]).toEqual([
          code,
          {
            name: 'disk',
            status,
            detail: `${(bytes / 2 ** 30).toFixed(1)} GiB are free in the data folder; the database is on a server of its own, whose disk is not seen here`,
            advice: 'Free space, or make the volume larger.',
          },
        ]);
      });
  });
});

describe('the master key', () => {
  test('that is weak: what is wrong with it and how to make one', async () => {
    for (const [key, why] of [
      ['0'.repeat(64), 'is one byte over and over'],
      ['short', 'is shorter than 32 characters'],
      ['at-least-32-random-characters-here', 'is the placeholder of an example'],
    ] as const) {
      const { code, part } = await local({ GATEWAY_MASTER_KEY: key });
      const told = part('keys') ?? part('configuration');
      expect([key, code, told?.status]).toEqual([key, 1, 'failing']);
      expect(`${told?.detail} ${told?.advice}`).toContain(why);
      expect(`${told?.detail} ${told?.advice}`).toContain('openssl rand -base64 32');
    }
  });

  test('that the database is no longer sealed with, on a gateway that runs', async () => {
    const [{ sealed } = { sealed: '' }] = await database.query<{ sealed: string }>(
      'SELECT sealed FROM master_key_check',
    );
    await database.query(`UPDATE master_key_check SET sealed = 'agw1:ffffffff' || substr(sealed, 14)`);
    try {
      await eventually(async () =>
        expect((await remote()).part('keys')).toMatchObject({
          status: 'failing',
          detail: expect.stringContaining(
            'Set GATEWAY_MASTER_KEY to the key of the other replicas',
          ) as string,
        }),
      );
    } finally {
      await database.query('UPDATE master_key_check SET sealed = $1', [sealed]);
    }
  });
});

describe('whoever asks', () => {
  const asking = (more: Readonly<Record<string, string>>) => diagnosis({ ...overHttp(gateway), ...more });

  test('with a token that is not known, or may not: what to do about it', async () => {
    const unknown = await asking({ AGENT_GATEWAY_TOKEN: 'agw_nobody' });
    expect([unknown.code, unknown.parts]).toMatchObject([
      1,
      [
        {
          name: 'connection',
          status: 'failing',
          advice: expect.stringContaining('auth token list') as string,
        },
      ],
    ]);
    const reader = await asking({ AGENT_GATEWAY_TOKEN: await gateway.mint({ scopes: ['sessions:read'] }) });
    expect(reader.parts).toMatchObject([
      {
        name: 'connection',
        detail: expect.stringContaining('lacks the scope "status:read"') as string,
        advice: expect.stringContaining('status:read') as string,
      },
    ]);
  });

  test('at an address where no gateway is', async () => {
    const { parts } = await asking({
      AGENT_GATEWAY_URL: `http://127.0.0.1:${gateway.started.ports.operations}`,
    });
    expect(parts).toMatchObject([
      {
        name: 'connection',
        status: 'failing',
        advice: expect.stringContaining('address of a profile') as string,
      },
    ]);
  });

  test('is told which parts their token may not read about', async () => {
    await database.query(
      `INSERT INTO hooks (id, url, events, active, inactive_reason) VALUES ('hook_broken', 'https://example.com', '{*}', false, 'gone')`,
    );
    const viewer = await gateway.mint({ scopes: ['status:read'] });
    await eventually(async () => {
      const { part } = await asking({ AGENT_GATEWAY_TOKEN: viewer });
      expect(part('webhooks')).toMatchObject({
        status: 'failing',
        detail: 'what it is takes the scope hooks:read',
      });
    });
    await database.query('DELETE FROM hooks');
  });
});

test('settings that are of no use any more are a warning', async () => {
  const { part } = await local({ GATEWAY__NOBODY__KNOWS: '1' });
  expect(part('configuration')?.status).not.toBe('ok');
});
