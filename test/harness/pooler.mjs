import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** The embedded server allows 50; the tests use some directly. */
const MAX_SERVER_CONNECTIONS = 36;

/**
 * Starts pgbouncer in transaction mode in front of a test server, for every database on it.
 * @param {URL} direct the server's own URL
 * @returns its URL and a function that stops it; undefined where pgbouncer is not installed
 */
export async function startPooler(direct) {
  if (spawnSync('pgbouncer', ['--version']).error) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'agw-pooler-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, settingsText(direct, port));
  const child = await spawnPooler(direct, file);
  const url = new URL(`postgres://${direct.username}@127.0.0.1:${port}${direct.pathname}`);
  const stop = async () => {
    child.kill('SIGINT');
    await rm(folder, { recursive: true, force: true });
  };
  if (await answers(url)) return { url, stop };
  await stop();
  throw new Error('pgbouncer did not answer within 10 s.');
}

function settingsText(direct, port) {
  const { searchParams, hostname, username, password } = direct;
  const host = searchParams.get('host') ?? hostname;
  const server = {
    host,
    port: searchParams.get('port') ?? (direct.port || 5432),
    user: username,
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    max_client_conn: 2000,
    default_pool_size: 5,
    max_user_connections: MAX_SERVER_CONNECTIONS,
    server_idle_timeout: 2,
  };
  const lines = (table) => Object.entries(table).map(([key, value]) => `${key} = ${value}`);
  const target = Object.entries(server).map(([key, value]) => `${key}=${value}`);
  return ['[databases]', `* = ${target.join(' ')}`, '[pgbouncer]', ...lines(settings), ''].join('\n');
}

/**
 * pgbouncer refuses to run as root. It runs as a user who may use the server's socket: its owner, or a second name
 * for root.
 */
async function spawnPooler(direct, file) {
  const command = ['pgbouncer', '-q', file];
  const options = { stdio: 'ignore' };
  if (process.getuid?.() !== 0) return spawn(command[0], command.slice(1), options);
  const socket = direct.searchParams.get('host');
  const { uid, gid } = socket === null ? { uid: 65_534, gid: 65_534 } : await stat(socket);
  if (uid !== 0) return spawn(command[0], command.slice(1), { ...options, uid, gid });
  return spawn('unshare', ['--user', '--map-user=65534', '--map-group=65534', ...command], options);
}

async function answers(url) {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 1000 });
    client.on('error', () => undefined);
    const connected = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (connected) return true;
    await sleep(100);
  }
  return false;
}

function freePort() {
  return new Promise((resolve) => {
    const holder = createServer().listen(0, '127.0.0.1', () => {
      const { port } = holder.address();
      holder.close(() => resolve(port));
    });
  });
}
