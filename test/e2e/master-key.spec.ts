import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { startTestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';

const bench = new ProcessBench();
let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());
afterAll(() => bench.clear());

const key = () => ({ GATEWAY_MASTER_KEY: randomBytes(32).toString('base64') });
const REFUSED =
  /master key is not the one that the secrets in this database are sealed with.*GATEWAY_MASTER_KEY/;

async function startAndStop(env: Record<string, string>): Promise<void> {
  await (await startTestGateway({ database, env })).stop();
}

test('a replica with another master key does not start, and the first one goes on', async () => {
  const right = key();
  const first = await startTestGateway({ database, env: right });
  try {
    await expect(startTestGateway({ database, env: key() })).rejects.toThrow(REFUSED);
    await startAndStop(right);
    expect((await first.b.post('/sessions', {})).status).toBe(201);
  } finally {
    await first.stop();
  }
  await expect(startTestGateway({ database, env: key() })).rejects.toThrow(REFUSED);
});

test('nor does it start on a database older than this check, when what is stored names another key', async () => {
  const right = key();
  const first = await startTestGateway({ database, env: right });
  const hook = { url: 'http://127.0.0.1:1999/x', events: ['*'], secret: 'a secret of eight and more' };
  const { status, text } = await first.b.post('/hooks', hook);
  await first.stop();
  expect([status, text]).toEqual([201, expect.any(String)]);
  await database.query('DELETE FROM master_key_check');
  await expect(startTestGateway({ database, env: key() })).rejects.toThrow(REFUSED);
  await startAndStop(right);
  expect(await database.query('SELECT id FROM master_key_check')).toEqual([{ id: 1 }]);
});

test('a command that seals is refused, too, before it spoils anything', async () => {
  await startAndStop(key());
  const env = { DATABASE_URL: database.url, ...key() };
  const { code, stderr } = await bench.run(['hooks', 'rotate-secret', 'hook_none'], { env });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(REFUSED);
});

test('config check refuses a short key, the placeholder of the example and, in production, none', async () => {
  const example = readFileSync('docker/kubernetes/overlays/example/secrets.env.example', 'utf8');
  const placeholder = /^master-key=(.+)$/m.exec(example)?.[1] ?? '';
  const check = async (env: Record<string, string>) => {
    const { code, stdout, stderr } = await bench.run(['config', 'check'], { env });
    return `${code} ${stdout}${stderr}`;
  };
  expect(await check({ GATEWAY_MASTER_KEY: placeholder })).toMatch(
    /^1 [\s\S]*GATEWAY_MASTER_KEY[^\n]*placeholder of an example[\s\S]*openssl rand/,
  );
  const short = await check({ GATEWAY_MASTER_KEY: 'canary-short' });
  expect(short).toMatch(/^1 [\s\S]*shorter than 32/);
  expect(short).not.toContain('canary');
  const production = { NODE_ENV: 'production', DATABASE_URL: 'postgres://x@127.0.0.1/y' };
  expect(await check(production)).toMatch(/^1 [\s\S]*GATEWAY_MASTER_KEY[^\n]*is not set/);
  expect(await check({ ...production, ...key() })).toMatch(/^0 /);
  await expect(startTestGateway({ database, env: { GATEWAY_MASTER_KEY: placeholder } })).rejects.toThrow(
    'placeholder',
  );
});
