import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { runCommand } from '../harness/remote-command-line.js';

const WIDEST = 100;

interface Part {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
}

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  folder = await mkdtemp('/tmp/agw-doctor-');
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

/** The settings of a gateway on this database, with the operations port of the running one. */
const settings = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  DATABASE_URL: gateway.database.url,
  GATEWAY_DATA_DIR: folder,
  GATEWAY_MASTER_KEY: 'a master key that only tests may use',
  GATEWAY__GATEWAY__MANAGEMENT_PORT: String(gateway.started.ports.operations),
  ...more,
});

async function partsOf(variables: Readonly<Record<string, string>>, ...args: string[]) {
  const { code, stdout } = await runCommand(variables, 'doctor', '--json', ...args);
  const { parts } = JSON.parse(stdout) as { parts: Part[] };
  return { code, parts, part: (name: string) => parts.find((one) => one.name === name) };
}

/** A port on which nobody listens. */
async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

test('without --url it looks for itself: configuration, gateway, database, clock, keys, disk', async () => {
  const { code, stdout } = await runCommand(settings(), 'doctor');
  expect(code).toBe(0);
  for (const name of ['configuration', 'gateway', 'database', 'clock', 'keys', 'disk'])
    expect(stdout).toMatch(new RegExp(`^${name} +(ok|warning) `, 'm'));
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(WIDEST);
  const { parts } = await partsOf(settings());
  expect(parts.find(({ name }) => name === 'clock')?.detail).toMatch(
    /this computer and the database differ by \d+ ms/,
  );
});

test('a gateway that does not run fails, and is told how to start', async () => {
  const { code, part } = await partsOf(settings({ GATEWAY__GATEWAY__MANAGEMENT_PORT: await freePort() }));
  expect([code, part('gateway')?.status, part('database')?.status]).toEqual([1, 'failing', 'ok']);
  expect(part('gateway')?.advice).toContain('agent-gateway serve');
});

test('a gateway of this machine that does not answer is examined here; one elsewhere is not', async () => {
  const port = await freePort();
  const asked = { ...settings(), AGENT_GATEWAY_TOKEN: 'agw_x' };
  const here = await partsOf({ ...asked, AGENT_GATEWAY_URL: `http://127.0.0.1:${port}` });
  expect([here.code, here.parts[0]?.name, here.part('database')?.status]).toEqual([1, 'connection', 'ok']);
  const elsewhere = await partsOf({ ...asked, AGENT_GATEWAY_URL: 'http://gateway.invalid' });
  expect(elsewhere.parts.map(({ name }) => name)).toEqual(['connection']);
});

test('wrong settings are reported, and nothing that needs them is checked', async () => {
  const { code, parts } = await partsOf(settings({ GATEWAY__AGENT__MAX_TURNS: 'many' }));
  expect([code, parts]).toEqual([
    1,
    [
      {
        name: 'configuration',
        status: 'failing',
        detail: expect.stringMatching(/max_turns/i) as string,
        advice: expect.stringContaining('config check') as string,
      },
    ],
  ]);
});

test('a database that does not answer fails, without its password', async () => {
  const port = await freePort();
  const url = `postgres://someone:hunter2@127.0.0.1:${port}/gateway`;
  const { code, stdout } = await runCommand(settings({ DATABASE_URL: url }), 'doctor');
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^database +failing +.*ECONNREFUSED/m)]);
  expect(stdout).not.toContain('hunter2');
});

test('a key that does not open what is sealed fails', async () => {
  const { code, part } = await partsOf(
    settings({ GATEWAY_MASTER_KEY: 'quite another key that opens nothing here' }),
  );
  expect([code, part('keys')?.status]).toEqual([1, 'failing']);
  expect(part('keys')?.advice).toContain('GATEWAY_MASTER_KEY');
});

describe('it makes nothing', () => {
  let empty: TestDatabase | undefined;
  afterEach(() => empty?.drop());

  test('on an empty database', async () => {
    empty = await createTestDatabase({ empty: true });
    const { code, part } = await partsOf(settings({ DATABASE_URL: empty.url }));
    expect([code, part('database')?.detail]).toEqual([
      1,
      expect.stringContaining('it has none of its tables'),
    ]);
    const tables = await empty.query(`SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
    expect(tables).toEqual([]);
  });

  test('in a folder where no gateway has run', async () => {
    const data = join(folder, 'nothing');
    const { DATABASE_URL: _, GATEWAY_MASTER_KEY: _key, ...embedded } = settings({ GATEWAY_DATA_DIR: data });
    const { code, part } = await partsOf(embedded);
    expect([code, part('database')?.detail]).toEqual([1, expect.stringContaining('No gateway has run')]);
    expect(part('disk')?.status).toBe('failing');
    expect(await readdir(folder)).toEqual([]);
  });
});
