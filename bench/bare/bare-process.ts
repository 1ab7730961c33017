import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'pg';
import { serveHelper } from '../harness/serve-helper.js';
import { BareHandlers } from './bare-handlers.js';
import { recordProductSql } from './product-sql.js';
import { Relay } from './relay.js';

export interface BareConfig {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly historyMessages: number;
  readonly providerUrl?: string | undefined;
}

const SESSION = /^\/api\/v1\/sessions\/(\w+)$/;
const MESSAGES = /^\/api\/v1\/sessions\/(\w+)\/messages$/;

/** The baseline: `node:http` and `pg`, the product's SQL, and nothing else. */
async function serveBare({ databaseUrl, poolSize, historyMessages, providerUrl }: BareConfig) {
  const pool = new Pool({ connectionString: databaseUrl, max: poolSize, idleTimeoutMillis: 60_000 });
  pool.on('error', () => undefined);
  const sql = await recordProductSql(pool, historyMessages);
  const relay = providerUrl === undefined ? undefined : new Relay(new URL(providerUrl));
  const handlers = new BareHandlers(pool, sql, relay);
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    answer(handlers, request).then(
      ([status, body]) => {
        const text = Buffer.from(JSON.stringify(body));
        response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length });
        response.end(text);
      },
      (error: unknown) => {
        response.writeHead(500, { 'Content-Length': 0, 'X-Error': encodeURIComponent(String(error)) }).end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { ready: { port: (server.address() as AddressInfo).port } };
}

async function answer(handlers: BareHandlers, request: IncomingMessage): Promise<[number, object]> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const query = (name: string, fallback: string) => url.searchParams.get(name) ?? fallback;
  const talk = MESSAGES.exec(url.pathname)?.[1];
  const found = SESSION.exec(url.pathname)?.[1];
  if (request.method === 'POST') {
    const body = JSON.parse((await bodyOf(request)).toString()) as { content?: string };
    if (talk === undefined) return [201, await handlers.create()];
    return [200, await handlers.turn(talk, body.content ?? '')];
  }
  if (talk !== undefined)
    return [200, await handlers.history(talk, query('before', ''), Number(query('limit', '100')))];
  if (found !== undefined) return [200, await handlers.find(found)];
  return [200, await handlers.list(Number(query('limit', '50')), Number(query('offset', '0')))];
}

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

await serveHelper(serveBare);
