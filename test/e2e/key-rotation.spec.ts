import { randomBytes } from 'node:crypto';
import { signInContext } from '../../src/areas/mcp/sign-in/sign-ins.store.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { everyRow } from '../harness/every-row.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

jest.setTimeout(120_000);

const SECRET = 'a secret of eight and more';
const SIGN_IN_PARTS = ['client', 'flow', 'tokens'] as const;
const bench = new ProcessBench();
const [before, after] = [0, 1].map(() => randomBytes(32).toString('base64')) as [string, string];
const old = { GATEWAY_MASTER_KEY: before };
const both = { GATEWAY_MASTER_KEY: after, GATEWAY_MASTER_KEY_PREVIOUS: before };

let database: TestDatabase;
let receiver: HookReceiver;
beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), HookReceiver.open()]);
});
afterAll(() => Promise.all([database.drop(), receiver.close(), bench.clear()]));

const start = (env: Record<string, string>): Promise<TestGateway> => startTestGateway({ database, env });
const rotate = (env: Record<string, string>) =>
  bench.run(['secrets', 'rotate'], { env: { DATABASE_URL: database.url, ...env } });

async function register(gateway: TestGateway): Promise<void> {
  const { status } = await gateway.b.post('/hooks', {
    url: receiver.url(),
    events: ['session.created'],
    secret: SECRET,
  });
  expect(status).toBe(201);
}

/** Registers webhooks, sets secrets and uses both, until told to stop. */
async function load(gateways: readonly TestGateway[], signal: AbortSignal): Promise<number> {
  let rounds = 0;
  for (; !signal.aborted; rounds += 1) {
    const gateway = gateways[rounds % gateways.length];
    if (gateway === undefined) break;
    if (rounds % 3 === 0 && rounds < 60) await register(gateway);
    expect((await gateway.b.post('/sessions', {})).status).toBe(201);
    const channel = { channels_config: { desk: { type: 'webhook', secret: `${SECRET} ${rounds}` } } };
    expect((await gateway.b.patch('/config', channel)).status).toBe(200);
  }
  return rounds;
}

test('secrets are rotated under load with 0 failed decryptions, and the old key can be removed afterwards', async () => {
  const first = await start(old);
  await register(first);
  await first.b.patch('/config', { channels_config: { desk: { type: 'webhook', secret: SECRET } } });
  const box = first.started.app.get(SecretBox, { strict: false });
  const sealed = SIGN_IN_PARTS.map((part) => box.seal(`of ${part}`, signInContext('crm', part)));
  await database.query(
    `INSERT INTO mcp_sign_ins (server, bound_to, sealed_client, sealed_flow, sealed_tokens) VALUES ('crm', '', $1, $2, $3)`,
    sealed,
  );
  // A rolling change: while one replica has only the old key, the others seal with the old key too, so that it can
  // open everything.
  const replicas = [await start(both), await start(both)];
  for (const replica of replicas) await register(replica);
  await first.b.post('/sessions', {});
  await eventually(() => expect(receiver.attempts.length).toBeGreaterThan(2));
  await first.stop();
  const stop = new AbortController();
  const running = load(replicas, stop.signal);
  const rotated = await rotate(both);
  stop.abort();
  expect(await running).toBeGreaterThan(3);
  expect([rotated.code, rotated.stderr]).toEqual([0, expect.stringContaining('can be removed')]);
  await eventually(async () =>
    expect(await database.query(`SELECT last_error FROM hook_deliveries WHERE status = 'pending'`)).toEqual(
      [],
    ),
  );
  expect(await database.query(`SELECT last_error FROM hook_deliveries WHERE status <> 'delivered'`)).toEqual(
    [],
  );
  for (const attempt of receiver.attempts) verifyAttempt(attempt, SECRET);
  await Promise.all(replicas.map((replica) => replica.stop()));
  const logged = replicas.flatMap(({ logLines }) => logLines).join('');
  expect(logged).not.toMatch(/another master key was|sealed under another|secret_unreadable/);

  const keyIds = new Set(
    [...(await everyRow(database)).matchAll(/agw1:([0-9a-f]{8}):/g)].map(([, id]) => id),
  );
  expect(keyIds.size).toBe(1);
  await expect(start(old)).rejects.toThrow('master key is not the one');
  const alone = await start({ GATEWAY_MASTER_KEY: after });
  const sent = receiver.attempts.length;
  await alone.b.post('/sessions', {});
  await eventually(() => expect(receiver.attempts.length).toBeGreaterThan(sent));
  const config = await alone.b.get<{ channels_config: object }>('/config');
  expect(config.body.channels_config).toMatchObject({ desk: { type: 'webhook' } });
  const [signIn] = await database.query<Record<string, string>>('SELECT * FROM mcp_sign_ins');
  for (const part of SIGN_IN_PARTS)
    expect(
      alone.started.app
        .get(SecretBox, { strict: false })
        .open(signIn?.[`sealed_${part}`] ?? '', signInContext('crm', part)),
    ).toBe(`of ${part}`);
  await alone.stop();
  for (const attempt of receiver.attempts) verifyAttempt(attempt, SECRET);
  expect(alone.logLines.join('')).not.toMatch(/another master key|left out/);
});

test('a rotation can be repeated, and one without the old key changes nothing', async () => {
  const rows = await everyRow(database);
  expect(await rotate({ GATEWAY_MASTER_KEY: before })).toMatchObject({ code: 1 });
  const third = { GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') };
  expect(await rotate(third)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('_PREVIOUS') as string,
  });
  expect(await everyRow(database)).toBe(rows);
  expect(await rotate(both)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^0 secrets/) as string,
  });
  expect(await rotate({ ...third, GATEWAY_MASTER_KEY_PREVIOUS: after })).toMatchObject({ code: 0 });
  await (await start(third)).stop();
});

test('every column with sealed texts is resealed', async () => {
  const columns = await database.query<{ place: string }>(
    `SELECT table_name || '.' || column_name AS place FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name ~ 'seal|secret|signature' AND data_type IN ('text', 'jsonb', 'json', 'bytea')
     ORDER BY 1`,
  );
  expect(columns.map(({ place }) => place).filter((place) => place !== 'assertion_keys.sealed_key')).toEqual([
    'audit_checkpoints.signature',
    'config_overrides.sealed',
    'hooks.old_secret',
    'hooks.secret',
    'master_key_check.sealed',
    'mcp_sign_ins.sealed_client',
    'mcp_sign_ins.sealed_flow',
    'mcp_sign_ins.sealed_tokens',
  ]);
});
