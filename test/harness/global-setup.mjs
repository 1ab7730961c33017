import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../dist/src/platform/database/embedded/embedded-postgres.js';
import { migrate } from '../../dist/src/platform/database/schema.js';
import { silentLogs } from '../../dist/src/platform/logging/logger.js';
import { startPooler } from './pooler.mjs';

const TEMPLATE = 'gateway_template';

/**
 * One server for the whole run: the one of TEST_DATABASE_URL, otherwise an embedded one. It gets one migrated
 * template, which every test file copies (`test/harness/database.ts`). Where pgbouncer is installed, it runs in front
 * of the server: for its own tests and, with TEST_POOLER=1, for every gateway.
 */
export default async function setup() {
  const address = await serverAddress();
  const template = `${TEMPLATE}_${process.pid}`;
  await onServer(address, `CREATE DATABASE ${template}`);
  await migrate(databaseOf(address, template));
  const pooler = await startPooler(directUrl(address));
  globalThis.gatewayTestPooler = pooler;
  const always = Boolean(process.env.TEST_POOLER);
  if (always && pooler === undefined) throw new Error('TEST_POOLER needs pgbouncer, which is not installed.');
  process.env.GATEWAY_TEST_SERVER = JSON.stringify({
    address,
    template,
    // When nothing waits for the disk, copying files takes half as long as writing pages to the log.
    copies: address.url ? '' : 'STRATEGY FILE_COPY',
    ...(pooler === undefined ? {} : { pooler: { url: pooler.url.href, always } }),
  });
}

async function serverAddress() {
  if (process.env.TEST_DATABASE_URL) return { url: process.env.TEST_DATABASE_URL };
  const dataDir = await mkdtemp(join(tmpdir(), 'agw-test-'));
  globalThis.gatewayTestServer = await EmbeddedPostgres.open({ dataDir, logger: silentLogs.for('test') });
  globalThis.gatewayTestDataDir = dataDir;
  const address = { ...globalThis.gatewayTestServer.connection, database: 'postgres' };
  await forgoDurability(address);
  return address;
}

/** No test cuts the machine's power, so this server does not wait for the disk. It differs in nothing else. */
async function forgoDurability(address) {
  await onServer(address, 'ALTER SYSTEM SET fsync = off');
  await onServer(address, 'ALTER SYSTEM SET full_page_writes = off');
  await onServer(address, 'SELECT pg_reload_conf()');
}

async function onServer(address, sql) {
  const client = new pg.Client(address.url ? { connectionString: address.url } : address);
  await client.connect();
  await client.query(sql);
  await client.end();
}

function databaseOf(address, database) {
  if (!address.url) return { ...address, database };
  const url = new URL(address.url);
  url.pathname = `/${database}`;
  return { url: url.href };
}

function directUrl(address) {
  if (address.url) return new URL(address.url);
  const { host, port, user, database } = address;
  return new URL(`postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`);
}
