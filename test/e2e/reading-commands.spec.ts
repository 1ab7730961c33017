import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.js';
import { readEnvironment } from '../../src/platform/settings/environment.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { startNoGateway } from '../harness/no-gateway.js';
import { runCommand } from '../harness/remote-command-line.js';

jest.setTimeout(120_000);

/** Commands that need no database. */
const WITHOUT = [
  ['config', 'check'],
  ['config', 'show'],
  ['config', 'schema'],
  ['auth', 'token', 'mint'],
  ['completion', 'bash'],
];
/** Commands that only read. */
const READS = [
  ['config', 'show', '--stored'],
  ['config', 'history'],
  ['auth', 'token', 'list'],
  ['hooks', 'list'],
  ['hooks', 'deliveries', 'hook_x'],
  ['memory', 'list', '--user', 'ada'],
  ['tools', 'list'],
  ['tools', 'pending'],
  ['tools', 'questions'],
  ['agents', 'list'],
  ['auth', 'denied'],
  ['usage'],
  ['audit', 'list'],
  ['audit', 'verify'],
];
/** Commands that change something: where nothing exists, they create nothing. */
const CHANGES = [
  ['auth', 'token', 'revoke', 'ci'],
  ['auth', 'token', 'rotate', 'ci'],
  ['config', 'rollback'],
  ['hooks', 'ping', 'hook_x'],
  ['hooks', 'replay', 'hook_x'],
  ['hooks', 'rotate-secret', 'hook_x'],
  ['memory', 'forget', '--user', 'ada'],
  ['tools', 'approve', 'files'],
  ['tools', 'allow', 'x'],
  ['tools', 'deny', 'x'],
  ['tools', 'answer', 'x'],
  ['auth', 'deny', '--issuer', 'https://login.example.com/', '--subject', 'ada'],
  ['auth', 'allow', '--issuer', 'https://login.example.com/', '--subject', 'ada'],
  // The audit records exports.
  ['audit', 'export'],
  ['user', 'export', 'ada'],
  ['user', 'erase', 'ada', '--yes'],
  ['secrets', 'rotate'],
  ['migrate', '--from', 'embedded'],
];
/** Commands that ask a running gateway and open no database; `doctor` does when no gateway is named. */
const REMOTE = [
  ['status'],
  ['doctor'],
  ['logs'],
  ['sessions', 'watch', 'sess_x'],
  ['hooks', 'create', 'https://example.com'],
  ['hooks', 'delete', 'hook_x'],
  ['hooks', 'redeliver', '1'],
  ['plugins', 'list'],
  ['plugins', 'reload', 'x'],
  ['plugins', 'enable', 'x'],
  ['plugins', 'disable', 'x'],
  ['skills', 'list'],
  ['sessions', 'list'],
  ['sessions', 'show', 'sess_x'],
  ['sessions', 'end', 'sess_x'],
  ['agents', 'check'],
  ['channels', 'list'],
  ['channels', 'restart', 'api'],
  ['mcp', 'list'],
  ['mcp', 'reconnect', 'files'],
  ['mcp', 'approve', 'files'],
  ['mcp', 'sign-in', 'files'],
  ['mcp', 'sign-out', 'files'],
  ['chat', 'Hello'],
  ['approvals', 'list'],
  ['approvals', 'allow', 'appr_x'],
  ['approvals', 'deny', 'appr_x'],
];
/** Commands whose purpose is to create what is missing. */
const MAKES = ['serve', 'migrate', 'auth token create'];

const bench = new ProcessBench();
const databases: TestDatabase[] = [];
afterAll(async () => {
  await bench.clear();
  for (const database of databases) await database.drop();
});

async function database(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const made = await createTestDatabase(options);
  databases.push(made);
  return made;
}

/** Runs a command line in this process, in that folder: a hundred processes would take a minute. */
async function runIn(folder: string, env: Record<string, string>, args: readonly string[]) {
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await runCommand(env, ...args);
  } finally {
    process.chdir(before);
  }
}

/** Names of all objects in a schema. */
async function objectsOf({ query }: TestDatabase): Promise<string[]> {
  const sql = `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`;
  return (await query<{ name: string }>(sql)).map(({ name }) => name);
}

test('every command is known to read, to change, or to make what is absent', () => {
  const program = createProgram({
    environment: readEnvironment({}),
    terminal: { out: () => undefined, err: () => undefined },
    startGateway: startNoGateway,
  });
  const leaves = (command: Command, path: string[]): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
  const tried = [...WITHOUT, ...READS, ...CHANGES, ...REMOTE].map((line) => line.join(' '));
  const isListed = (leaf: string) =>
    MAKES.includes(leaf) || tried.some((line) => `${line} `.startsWith(`${leaf} `));
  expect(leaves(program, []).filter((leaf) => !isListed(leaf))).toEqual([]);
});

test('in an empty folder commands make nothing, and say what to do', async () => {
  const cwd = await bench.folder();
  for (const args of WITHOUT) expect(await runIn(cwd, {}, args)).toMatchObject({ code: 0 });
  for (const args of [...READS, ...CHANGES].filter(([name]) => name !== 'migrate')) {
    const { code, stdout, stderr } = await runIn(cwd, {}, args);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
    expect(stderr).toBe(
      'No gateway has run in ./data yet. Start it with "agent-gateway serve", or point GATEWAY_DATA_DIR, DATABASE_URL or --config at the gateway you mean.\n',
    );
  }
  expect(await readdir(cwd)).toEqual([]);
  // A data folder with other contents does not belong to a gateway yet either.
  await mkdir(join(cwd, 'data', 'plugins'), { recursive: true });
  expect((await bench.run(['hooks', 'list'], { cwd })).stderr).toMatch(/^No gateway has run in \.\/data yet/);
  expect(await readdir(join(cwd, 'data'), { recursive: true })).toEqual(['plugins']);
});

test('on an empty PostgreSQL database commands make nothing, and say what to do', async () => {
  const empty = await database({ empty: true });
  const cwd = await bench.folder();
  const env = { DATABASE_URL: empty.url };
  const name = new URL(empty.url).pathname;
  for (const args of WITHOUT) expect(await runIn(cwd, env, args)).toMatchObject({ code: 0 });
  for (const args of [...READS, ...CHANGES].filter(([command]) => command !== 'migrate')) {
    const { code, stdout, stderr } = await runIn(cwd, env, args);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
    expect(stderr).toContain(`${name} yet: it has none of its tables. Start one with`);
    expect(stderr).toContain('or point DATABASE_URL or --config at');
  }
  const moved = await bench.run(['migrate', '--from', 'embedded'], { cwd, env });
  expect(moved.code).toBe(1);
  expect(moved.stderr).toMatch(/^No gateway has run in \.\/data yet/);
  expect(await objectsOf(empty)).toEqual([]);
  expect(await readdir(cwd)).toEqual([]);
});

test('on a database that gateways use, commands that read change nothing and make no key file', async () => {
  const used = await database();
  const cwd = await bench.folder();
  const env = { DATABASE_URL: used.url };
  const before = await objectsOf(used);
  await used.query(
    `INSERT INTO config_overrides (key, value, sealed) VALUES ('agent.max_turns', '7', NULL),
       ('channels_config.tg.token', NULL, 'v1.not-for-this-key')`,
  );
  for (const args of READS.filter(([, word]) => word !== 'deliveries' && word !== 'verify')) {
    const { code, stderr } = await runIn(cwd, env, args);
    expect({ args, stderr, code }).toEqual({ args, stderr, code: 0 });
  }
  const shown = await bench.run(['config', 'show', '--stored'], { cwd, env });
  expect(shown.stdout).toContain('agent.max_turns = 7');
  const rotated = await bench.run(['hooks', 'rotate-secret', 'hook_x'], { cwd, env });
  expect(rotated.code).toBe(1);
  expect(rotated.stderr).toMatch(/^There is no master key: /);
  expect(await objectsOf(used)).toEqual(before);
  expect(await readdir(cwd)).toEqual([]);
});

test('a schema that is older is read as far as it fits, else refused with what to do; nothing migrates it', async () => {
  const older = await database();
  const env = { DATABASE_URL: older.url };
  await older.query(`DROP TABLE memory_entries`);
  await older.query(`DELETE FROM schema_migrations WHERE name = 'CreateMemoryEntries1763700020000'`);
  const before = await objectsOf(older);
  expect(await bench.run(['auth', 'token', 'list'], { env })).toMatchObject({ code: 0 });
  const refused = await bench.run(['memory', 'list', '--user', 'ada'], { env });
  const changing = await bench.run(['auth', 'token', 'revoke', 'ci'], { env });
  for (const { code, stderr } of [refused, changing]) {
    expect(code).toBe(1);
    expect(stderr).toContain('is older than this command: it lacks CreateMemoryEntries1763700020000.');
    expect(stderr).toContain('Run "agent-gateway migrate"');
  }
  expect(await objectsOf(older)).toEqual(before);
});
