import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { DatabaseAddress } from '../../src/platform/database/data-source.js';

/** A migrated database for one test file. */
export interface TestDatabase {
  /** The value for `DATABASE_URL`: the server, or with TEST_POOLER=1 the pooler in front of it. */
  readonly url: string;
  /** The server itself, for tests without a gateway. */
  readonly directUrl: string;
  /** Through pgbouncer in transaction mode; undefined where it is not installed. */
  readonly pooledUrl: string | undefined;
  /** Runs a statement directly, as an operator with psql would. */
  query<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

interface TestServer {
  readonly address: DatabaseAddress;
  readonly template: string;
  /** How the server copies a template: SQL that follows `CREATE DATABASE`, or empty. */
  readonly copies: string;
  readonly pooler?: { readonly url: string; readonly always: boolean };
}

/** Copies the template that `global-setup.mjs` has migrated. An `empty` database has no tables. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const { address, template, pooler, copies } = testServer();
  const name = `gateway_test_${randomBytes(6).toString('hex')}`;
  await onServer(address, `CREATE DATABASE ${name} TEMPLATE ${empty ? 'template0' : template} ${copies}`);
  const direct = urlOf(address, name);
  const pooled = pooler && urlOf({ url: pooler.url }, name);
  return {
    directUrl: direct,
    url: pooler?.always === true && pooled !== undefined ? pooled : direct,
    pooledUrl: pooled,
    query: async <Row>(sql: string, values: unknown[] = []) => {
      const client = new Client({ connectionString: direct });
      await client.connect();
      try {
        return (await client.query(sql, values)).rows as Row[];
      } finally {
        await client.end();
      }
    },
    drop: () => onServer(address, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function testServer(): TestServer {
  const text = process.env['GATEWAY_TEST_SERVER'];
  if (text === undefined)
    throw new Error('Run these tests through jest: its global set-up starts the database.');
  return JSON.parse(text) as TestServer;
}

async function onServer(address: DatabaseAddress, sql: string): Promise<void> {
  const client = new Client({ connectionString: urlOf(address, 'postgres') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function urlOf(address: DatabaseAddress, database: string): string {
  if (!('url' in address)) {
    return `postgres://${address.user}@localhost/${database}?host=${encodeURIComponent(address.host)}&port=${address.port}`;
  }
  const url = new URL(address.url);
  url.pathname = `/${database}`;
  return url.href;
}
