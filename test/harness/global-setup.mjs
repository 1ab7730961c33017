import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../dist/src/database/embedded/embedded-postgres.js';
import { migrate } from '../../dist/src/database/schema.js';
import { silentLogs } from '../../dist/src/logs/silent-logs.js';

const TEMPLATE = 'gateway_template';

/**
 * One server for the whole run: the one of TEST_DATABASE_URL, else an embedded one that this starts. One migrated
 * template on it; every test file copies it (`test/harness/database.ts`).
 */
export default async function setup() {
  const address = await serverAddress();
  const template = `${TEMPLATE}_${process.pid}`;
  await onServer(address, `CREATE DATABASE ${template}`);
  await migrate(databaseOf(address, template));
  process.env.GATEWAY_TEST_SERVER = JSON.stringify({ address, template });
}

async function serverAddress() {
  if (process.env.TEST_DATABASE_URL) return { url: process.env.TEST_DATABASE_URL };
  const dataDir = await mkdtemp(join(tmpdir(), 'agw-test-'));
  globalThis.gatewayTestServer = await EmbeddedPostgres.open({ dataDir, logger: silentLogs.for('test') });
  globalThis.gatewayTestDataDir = dataDir;
  return { ...globalThis.gatewayTestServer.connection, database: 'postgres' };
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
