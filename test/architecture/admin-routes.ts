import type { Access } from '../../src/http/guards/access.decorator.js';

/** One route of the operators' API: what it needs, and what callers see that are bound to a user. */
export interface AdminRoute {
  /** Method and path below `/admin/v1`. */
  readonly route: string;
  readonly scope: Access['scope'];
  readonly tier?: Access['tier'];
  readonly boundCallers?: 'own';
  readonly body?: true;
}

/** Every route of the operators' API, decided here and not read from the code. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  { route: 'GET /openapi.json', scope: 'open' },
  { route: 'GET /agents', scope: 'agents:read' },
  { route: 'GET /approvals', scope: 'approvals:read', boundCallers: 'own' },
  { route: 'POST /approvals/:id/decision', scope: 'approvals:write', boundCallers: 'own', body: true },
  { route: 'GET /audit', scope: 'audit:read' },
  { route: 'GET /tokens', scope: 'tokens:read' },
  { route: 'POST /tokens', scope: 'tokens:write', body: true },
  { route: 'DELETE /tokens/:id', scope: 'tokens:write' },
  { route: 'POST /tokens/:id/rotate', scope: 'tokens:write', body: true },
  { route: 'GET /usage', scope: 'usage:read', boundCallers: 'own' },
];
