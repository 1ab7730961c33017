import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { findServerBinaries } from '../../src/platform/database/embedded/server-binaries.js';
import {
  identitiesForNewCluster,
  serverCommand,
} from '../../src/platform/database/embedded/server-command.js';
import { AUTHORITY_FILE } from '../harness/company-proxy.js';
import { freePort } from '../harness/free-port.js';
import { startTestGateway } from '../harness/gateway.js';
import { until } from '../harness/gateway-process.js';

jest.setTimeout(120_000);

let folder: string;
let child: ChildProcess;
let port: number;

/** A PostgreSQL that requires TLS over TCP, with a certificate for localhost and 127.0.0.1. */
beforeAll(async () => {
  folder = mkdtempSync('/tmp/agw-tls-');
  const binaries = await findServerBinaries(folder);
  const [identity] = await identitiesForNewCluster();
  if (identity === undefined) throw new Error('nobody may run PostgreSQL here');
  const { uid = process.getuid?.() ?? 0, gid = process.getgid?.() ?? 0 } = identity.credentials;
  const own = (path: string, mode: number): void => {
    chownSync(path, uid, gid);
    chmodSync(path, mode);
  };
  own(folder, 0o755);
  for (const name of ['server.key', 'server.pem']) {
    copyFileSync(join(__dirname, '../harness/tls', name), join(folder, name));
    own(join(folder, name), 0o600);
  }
  writeFileSync(join(folder, 'hba.conf'), 'local all all trust\nhostssl all all 127.0.0.0/8 trust\n');
  own(join(folder, 'hba.conf'), 0o600);
  const files = join(folder, 'files');
  const make = serverCommand(identity, binaries, 'initdb', [
    ...['-D', files, '-U', 'gateway', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
  ]);
  const made = spawnSync(make.file, [...make.args], { ...make.options, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  port = await freePort();
  const settings = {
    port: String(port),
    listen_addresses: process.platform === 'linux' ? '127.0.0.1,127.0.0.2' : '127.0.0.1',
    unix_socket_directories: folder,
    hba_file: join(folder, 'hba.conf'),
    ssl: 'on',
    ssl_cert_file: join(folder, 'server.pem'),
    ssl_key_file: join(folder, 'server.key'),
    fsync: 'off',
  };
  const run = serverCommand(identity, binaries, 'postgres', [
    ...['-D', files],
    ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ]);
  child = spawn(run.file, [...run.args], { ...run.options, stdio: 'ignore' });
  await until(async () => (await locally('SELECT 1').catch(() => [])).length > 0, 60_000);
});
afterAll(async () => {
  const ended = once(child, 'exit');
  child.kill('SIGQUIT');
  await ended;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Over the socket, without TLS. */
async function locally(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: folder, port, user: 'gateway', database: 'postgres' });
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const address = (host: string, query: string) => `postgres://gateway@${host}:${port}/postgres?${query}`;
const TRUSTED = `sslmode=verify-full&sslrootcert=${AUTHORITY_FILE}`;
const start = (url: string) => startTestGateway({ env: { DATABASE_URL: url } });

test('sslmode=verify-full: every connection is TLS, to the server that the certificate names', async () => {
  const gateway = await start(address('localhost', TRUSTED));
  try {
    expect((await gateway.b.post('/sessions', {})).status).toBe(201);
    const connections = await locally(
      `SELECT ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    expect(connections.length).toBeGreaterThan(0);
    expect(connections.filter(({ ssl }) => ssl !== true)).toEqual([]);
  } finally {
    await gateway.stop();
  }
});

// Other systems have one loopback address.
const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('a server that the certificate does not name is refused, and the message says so', async () => {
  await expect(start(address('127.0.0.2', TRUSTED))).rejects.toThrow(/certificate|altnames/i);
});

test('without its authority the server is not trusted; without TLS the server refuses connections', async () => {
  await expect(start(address('localhost', 'sslmode=verify-full'))).rejects.toThrow(/certificate/i);
  await expect(start(address('127.0.0.1', 'sslmode=disable'))).rejects.toThrow(/no encryption|pg_hba/);
});
