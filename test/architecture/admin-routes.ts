import type { Access } from '../../src/http/guards/access.decorator.js';

/** A route of the operators' API: what it requires, and what callers bound to a user see. */
export interface AdminRoute {
  /** Method, and path below `/admin/v1`. */
  readonly route: string;
  readonly scope: Access['scope'];
  readonly tier?: Access['tier'];
  readonly boundCallers?: 'own';
  readonly body?: true;
}

/** Every route of the operators' API. The list is maintained by hand, not read from the code. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  { route: 'GET /openapi.json', scope: 'open' },
  { route: 'GET /agents', scope: 'agents:read' },
  { route: 'POST /agents/check', scope: 'sessions:write', tier: 'sessions_write', body: true },
  { route: 'GET /approvals', scope: 'approvals:read', boundCallers: 'own' },
  { route: 'POST /approvals/:id/decision', scope: 'approvals:write', boundCallers: 'own', body: true },
  { route: 'GET /audit', scope: 'audit:read' },
  { route: 'GET /questions', scope: 'sessions:read', boundCallers: 'own' },
  { route: 'POST /questions/:id/answer', scope: 'sessions:write', boundCallers: 'own', body: true },
  { route: 'POST /console/sign-in', scope: 'open' },
  { route: 'GET /me', scope: null, boundCallers: 'own' },
  { route: 'GET /channels', scope: 'channels:read' },
  { route: 'POST /channels/:name/restart', scope: 'channels:write' },
  { route: 'GET /config/history', scope: 'config:read' },
  { route: 'POST /config/rollback', scope: 'config:write', tier: 'config_write', body: true },
  { route: 'GET /deliveries', scope: 'hooks:read' },
  { route: 'GET /deliveries/:id', scope: 'hooks:read' },
  { route: 'POST /deliveries/:id/redeliver', scope: 'hooks:write' },
  { route: 'GET /hooks', scope: 'hooks:read' },
  { route: 'GET /mcp/servers', scope: 'mcp:read' },
  { route: 'GET /mcp/tools', scope: 'mcp:read' },
  { route: 'POST /mcp/servers/:name/approve', scope: 'mcp:write', body: true },
  { route: 'POST /mcp/servers/:name/reconnect', scope: 'mcp:write' },
  { route: 'POST /mcp/servers/:name/sign-in', scope: 'security:write' },
  { route: 'DELETE /mcp/servers/:name/sign-in', scope: 'security:write' },
  { route: 'GET /mcp/sign-in/:server/callback', scope: 'open' },
  { route: 'GET /mcp/sign-in/:server/client.json', scope: 'open' },
  { route: 'GET /overview', scope: 'status:read' },
  { route: 'GET /sessions', scope: 'sessions:read', tier: 'sessions_read', boundCallers: 'own' },
  { route: 'GET /sessions/:id', scope: 'sessions:read', tier: 'sessions_read', boundCallers: 'own' },
  { route: 'GET /tokens', scope: 'tokens:read' },
  { route: 'POST /tokens', scope: 'tokens:write', body: true },
  { route: 'DELETE /tokens/:id', scope: 'tokens:write' },
  { route: 'POST /tokens/:id/rotate', scope: 'tokens:write', body: true },
  { route: 'GET /turns', scope: 'sessions:read', tier: 'sessions_read', boundCallers: 'own' },
  { route: 'GET /turns/:id', scope: 'sessions:read', tier: 'sessions_read', boundCallers: 'own' },
  { route: 'POST /turns/:id/cancel', scope: 'sessions:write', tier: 'sessions_write', boundCallers: 'own' },
  { route: 'GET /usage', scope: 'usage:read', boundCallers: 'own' },
];
