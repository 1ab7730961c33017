import type { ProfileId } from '../../../src/http/profiles/profile.js';
import { RouteTable } from '../../../src/http/route-table.js';
import type { TestGateway } from '../../harness/gateway.js';
import type { Answer } from '../../harness/http-caller.js';

/** Every POST and PATCH that a profile serves, as `POST /sessions/:id/messages`. */
export function writesOf(gateway: TestGateway, profile: ProfileId): { method: string; path: string }[] {
  const routes = gateway.started.app.get(RouteTable, { strict: false }).all();
  return routes
    .filter(({ listener, path }) => listener === profile && path.startsWith('/api/v1/'))
    .filter(({ method }) => method === 'POST' || method === 'PATCH')
    .map(({ method, path }) => ({ method, path: path.replace(/^\/api\/v1/, '') }));
}

/** Sends a request with an idempotency key. */
export function sendWithKey(
  gateway: TestGateway,
  profile: ProfileId,
  { method, path, body }: { method: string; path: string; body?: unknown },
  key: string,
): Promise<Answer<Record<string, unknown>>> {
  return gateway[profile].send(method, path, { body, headers: { 'idempotency-key': key } });
}

export function isReplayed({ headers }: Answer): boolean {
  return headers.get('idempotency-replayed') === 'true';
}

interface StoredKey {
  readonly operation: string;
  readonly status: number | null;
  readonly turn_id: string | null;
}

export function storedKeys(gateway: TestGateway): Promise<StoredKey[]> {
  return gateway.database.query<StoredKey>(
    'SELECT operation, status, turn_id FROM idempotency_keys ORDER BY created_at',
  );
}
