import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { transformFileSync } from '@swc/core';
import { Client } from 'pg';
import type { Logger } from '../../logging/logger.js';
import { EmbeddedPostgres } from './embedded-postgres.js';
import { findPostmaster } from './postmaster-file.js';

const lines: string[] = [];
const write = (message: string) => void lines.push(message);
const logger: Logger = { trace: write, debug: write, info: write, warn: write, error: write };

const onLinux = process.platform === 'linux' ? it : it.skip;

let root: string;
let seed: string;
const opened: EmbeddedPostgres[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'age-'));
  seed = join(root, 'seed');
  const server = await EmbeddedPostgres.open({ dataDir: seed, logger });
  await query(server, 'CREATE TABLE kept (word text)');
  await query(server, "INSERT INTO kept VALUES ('yes')");
  await server.close();
  await cp(seed, join(root, 'stopped'), { recursive: true });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
  lines.length = 0;
});
afterAll(() => rmSync(root, { recursive: true }));

async function open(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await EmbeddedPostgres.open({ dataDir, logger });
  opened.push(server);
  return server;
}

/** A stopped cluster like any other, without the seconds that making one takes. `cpSync` opens its folders to all since Node 22. */
async function copyOfSeed(...names: string[]): Promise<string> {
  const folder = join(root, ...names);
  await cp(join(root, 'stopped'), folder, { recursive: true });
  return folder;
}

async function query(server: EmbeddedPostgres, text: string): Promise<string> {
  const client = new Client({ ...server.connection, ssl: false });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<string[]>({ text, rowMode: 'array' });
    return rows.map((row) => row[0]).join();
  } finally {
    await client.end();
  }
}

async function pidOf(dataDir: string): Promise<number | undefined> {
  return (await findPostmaster(join(dataDir, 'postgres')))?.pid;
}

async function kill(dataDir: string): Promise<number> {
  const pid = await pidOf(dataDir);
  if (pid === undefined) throw new Error('no server runs');
  process.kill(pid, 'SIGKILL');
  return pid;
}

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; await sleep(10)) {
    const found = await find();
    if (found !== undefined) return found;
  }
  throw new Error('it did not come to pass');
}

describe('the embedded server', () => {
  it('keeps its files and its socket where no one else can enter', async () => {
    const { connection } = await open(seed);
    expect(statSync(join(seed, 'postgres')).mode & 0o777).toBe(0o700);
    expect(statSync(seed).mode & 0o066).toBe(0);
    expect(connection).toMatchObject({ host: join(seed, 'postgres'), database: 'agent_gateway' });
  });

  it('listens on no port, and does not trade durability for speed', async () => {
    const server = await open(seed);
    expect(await query(server, 'SHOW listen_addresses')).toBe('');
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums']) {
      expect(await query(server, `SHOW ${name}`)).toBe('on');
    }
  });

  it('still has, after a restart, what was stored before', async () => {
    expect(await query(await open(seed), 'SELECT word FROM kept')).toBe('yes');
  });

  onLinux('runs in a session of its own, so that Ctrl-C in the terminal does not reach it', async () => {
    await open(seed);
    const pid = await pidOf(seed);
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
    expect(fields?.slice(2, 4)).toEqual([String(pid), String(pid)]);
  });

  it('works in a folder with blanks, quotes and commas', async () => {
    const folder = await copyOfSeed('a b', `it's, "here"`);
    expect(await query(await open(folder), 'SELECT word FROM kept')).toBe('yes');
  });

  it('works in a folder whose path is too long for a socket, and cleans up after itself', async () => {
    const server = await open(await copyOfSeed('l'.repeat(100)));
    const { host } = server.connection;
    expect(host).toMatch(/^\/tmp\/agent-gateway-/);
    expect(await query(server, 'SELECT word FROM kept')).toBe('yes');
    await server.close();
    expect(existsSync(host)).toBe(false);
  });

  it('takes a relative path from the working directory', async () => {
    const server = await open(relative(process.cwd(), seed));
    expect(server.connection.host).toBe(join(seed, 'postgres'));
  });

  it('serves two users with one server; the last to close stops it', async () => {
    const [first, second] = await Promise.all([open(seed), open(seed)]);
    const pid = await pidOf(seed);
    await first.close();
    expect(await query(second, 'SELECT word FROM kept')).toBe('yes');
    expect(await pidOf(seed)).toBe(pid);
    await Promise.all([second.close(), second.close()]);
    expect(await pidOf(seed)).toBeUndefined();
  });

  it('restarts when it is killed, and logs that', async () => {
    const server = await open(seed);
    const killed = await kill(seed);
    await until(async () =>
      lines.filter((line) => line.startsWith('started')).length > 1 ? true : undefined,
    );
    expect(await pidOf(seed)).not.toBe(killed);
    expect(lines).toContain('the embedded server has stopped; starting it again');
    expect(await query(server, 'SELECT word FROM kept')).toBe('yes');
  });

  it('closes at once while it is being restarted', async () => {
    const server = await open(seed);
    await kill(seed);
    await server.close();
    expect(await pidOf(seed)).toBeUndefined();
  });

  it('is left running when it may not be stopped, and logs that', async () => {
    const server = await open(seed);
    const refused = jest.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    });
    await server.close();
    refused.mockRestore();
    expect(lines).toContain('the embedded server was left running');
    const again = await open(seed);
    expect(lines).toContain('using the running embedded server');
    await again.close();
    expect(await pidOf(seed)).toBeUndefined();
  });

  it('logs that it cannot be restarted, and closes while it waits for the next try', async () => {
    const folder = await copyOfSeed('lost');
    const server = await open(folder);
    rmSync(join(folder, 'postgres/global/pg_control'));
    await kill(folder);
    await until(async () =>
      lines.includes('the embedded server could not be started again; will retry') ? true : undefined,
    );
    await server.close();
    expect(await pidOf(folder)).toBeUndefined();
  });

  it('starts although another process now has the pid of the dead server', async () => {
    const folder = await copyOfSeed('stale');
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const cluster = join(folder, 'postgres');
      const noted = [stranger.pid, cluster, 1_700_000_000, 5432, cluster, '', '  1  1', 'ready   ', ''];
      writeFileSync(join(cluster, 'postmaster.pid'), noted.join('\n'), { mode: 0o600 });
      writeFileSync(join(cluster, '.s.PGSQL.5432.lock'), noted.slice(0, 5).join('\n'), { mode: 0o600 });
      expect(await query(await open(folder), 'SELECT word FROM kept')).toBe('yes');
    } finally {
      stranger.kill();
    }
  });

  it('refuses files of another major version and says what to do', async () => {
    const folder = join(root, 'older');
    mkdirSync(join(folder, 'postgres'), { recursive: true });
    writeFileSync(join(folder, 'postgres/PG_VERSION'), '15\n');
    await expect(open(folder)).rejects.toThrow(/made by PostgreSQL 15.*DATABASE_URL/);
  });

  it('leaves a folder alone whose files are not a cluster', async () => {
    const folder = join(root, 'strange');
    mkdirSync(join(folder, 'postgres'), { recursive: true });
    writeFileSync(join(folder, 'postgres/letter.txt'), 'dear');
    await expect(open(folder)).rejects.toThrow(/PG_VERSION is missing.*DATABASE_URL/);
    expect(readFileSync(join(folder, 'postgres/letter.txt'), 'utf8')).toBe('dear');
  });

  it('reports a data directory that cannot be used', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    await expect(open(join(file, 'data'))).rejects.toThrow(/cannot be used .*file.*DATABASE_URL/);
    await expect(open(join(root, 'd'.repeat(300)))).rejects.toThrow(/cannot be used .*ENAMETOOLONG/);
  });

  it('passes on what the server logged when it does not start', async () => {
    const folder = await copyOfSeed('broken');
    rmSync(join(folder, 'postgres/global/pg_control'));
    await expect(open(folder)).rejects.toThrow(/did not start[\s\S]*pg_control[\s\S]*DATABASE_URL/);
  });
});

describe('several processes', () => {
  let program: string;
  const children: ChildProcess[] = [];

  beforeAll(() => {
    program = compileProgram();
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** A process of its own that opens the server, says so, and closes it when its input ends. */
  function start(dataDir: string): { child: ChildProcess; ready: Promise<unknown>; ended: Promise<unknown> } {
    const child = spawn(process.execPath, [program, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const ready = new Promise((resolve, reject) => {
      child.stdout.once('data', resolve);
      child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
    });
    ready.catch(() => undefined);
    return { child, ready, ended };
  }

  it('adopt the server of one that was killed', async () => {
    const owner = start(seed);
    await owner.ready;
    const pid = await pidOf(seed);
    owner.child.kill('SIGKILL');
    await owner.ended;
    const server = await open(seed);
    expect(lines).toContain('using the running embedded server');
    expect(await pidOf(seed)).toBe(pid);
    await server.close();
    expect(await pidOf(seed)).toBeUndefined();
  });

  it('leave the server to those who stay, whichever process started it', async () => {
    const owner = start(seed);
    await owner.ready;
    const server = await open(seed);
    const pid = await pidOf(seed);
    owner.child.stdin?.end();
    await owner.ended;
    expect(await pidOf(seed)).toBe(pid);
    expect(await query(server, 'SELECT word FROM kept')).toBe('yes');
    expect(lines).not.toContain('the embedded server has stopped; starting it again');
  });

  it('recover from one that was killed while it created the files, and agree on one server', async () => {
    const folder = join(root, 'raced');
    const unlucky = start(folder);
    const leftovers = () =>
      existsSync(folder) ? readdirSync(folder).filter((name) => name.includes('.new-')) : [];
    await until(async () => (leftovers().length > 0 ? true : undefined));
    unlucky.child.kill('SIGKILL');
    await unlucky.ended;
    expect(existsSync(join(folder, 'postgres'))).toBe(false);

    mkdirSync(join(folder, 'postgres.new-half/base'), { recursive: true });

    const rivals = [start(folder), start(folder)];
    const server = await open(folder);
    expect(leftovers()).not.toContain('postgres.new-half');
    await Promise.all(rivals.map(({ ready }) => ready));
    const presences =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ '^agent-gateway presence'";
    expect(await query(server, presences)).toBe('3');
    for (const { child } of rivals) child.stdin?.end();
    await Promise.all(rivals.map(({ ended }) => ended));
    expect(await pidOf(folder)).toBeDefined();
  });
});

const PLATFORM = resolve(__dirname, '../..');
/** What the folder needs of another. */
const RUNTIME_PART = join(PLATFORM, 'runtime/signal-within.ts');

/** These sources as modules that plain Node can run. */
function compileProgram(): string {
  const target = mkdtempSync(join(root, 'program-'));
  symlinkSync(join(process.cwd(), 'node_modules'), join(target, 'node_modules'));
  writeFileSync(join(target, 'package.json'), '{"type":"module"}');
  const own = readdirSync(__dirname).filter((file) => /(?<![.]spec)[.]ts$/.test(file));
  for (const file of [...own.map((name) => join(__dirname, name)), RUNTIME_PART]) {
    const { code } = transformFileSync(file, {
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript' },
        transform: { useDefineForClassFields: false },
      },
      module: { type: 'es6' },
    });
    const compiled = join(target, relative(PLATFORM, file).replace(/ts$/, 'js'));
    mkdirSync(dirname(compiled), { recursive: true });
    writeFileSync(compiled, code);
  }
  const main = join(target, 'main.js');
  writeFileSync(
    main,
    `import { EmbeddedPostgres } from './database/embedded/embedded-postgres.js';
    const quiet = () => undefined;
    const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
    const server = await EmbeddedPostgres.open({ dataDir: process.argv[2], logger });
    process.stdin.on('end', () => server.close()).resume();
    process.stdout.write('ready');`,
  );
  return main;
}
