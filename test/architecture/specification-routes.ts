import type { Access } from '../../src/http/guards/access.decorator.js';
import type { ProfileId } from '../../src/http/profiles/profile.js';

/** One row of an endpoint table: method, path, and what it takes. */
export interface SpecificationRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: true;
  readonly query?: readonly string[];
}

/** Specification, section 4.1: 23 rows. */
const PROFILE_A: readonly SpecificationRoute[] = [
  { method: 'POST', path: '/sessions', body: true },
  { method: 'GET', path: '/sessions', query: ['status', 'limit', 'offset'] },
  { method: 'GET', path: '/sessions/:id' },
  { method: 'DELETE', path: '/sessions/:id' },
  { method: 'POST', path: '/sessions/:id/messages', body: true },
  { method: 'GET', path: '/sessions/:id/messages', query: ['limit', 'before'] },
  { method: 'GET', path: '/channels' },
  { method: 'POST', path: '/channels/:name/test' },
  { method: 'GET', path: '/hooks' },
  { method: 'POST', path: '/hooks', body: true },
  { method: 'DELETE', path: '/hooks/:id' },
  { method: 'GET', path: '/mcp/servers' },
  { method: 'GET', path: '/mcp/tools' },
  { method: 'GET', path: '/plugins' },
  { method: 'POST', path: '/plugins/:name/enable' },
  { method: 'POST', path: '/plugins/:name/disable' },
  { method: 'GET', path: '/skills' },
  { method: 'GET', path: '/health' },
  { method: 'GET', path: '/info' },
  { method: 'GET', path: '/metrics' },
  { method: 'GET', path: '/config' },
  { method: 'POST', path: '/config/reload' },
  { method: 'GET', path: '/logs', query: ['level', 'limit', 'since', 'component'] },
];

/** Specification, section 4.2: 22 rows, and the two messages of the extension (decisions, section 1). */
const PROFILE_B: readonly SpecificationRoute[] = [
  { method: 'POST', path: '/sessions', body: true },
  { method: 'GET', path: '/sessions', query: ['status', 'channel', 'limit', 'offset'] },
  { method: 'GET', path: '/sessions/:id' },
  { method: 'DELETE', path: '/sessions/:id' },
  { method: 'POST', path: '/sessions/:id/messages', body: true },
  { method: 'GET', path: '/sessions/:id/messages', query: ['limit', 'before'] },
  { method: 'GET', path: '/channels' },
  { method: 'POST', path: '/channels/:name/restart' },
  { method: 'GET', path: '/channels/:name/health' },
  { method: 'GET', path: '/hooks' },
  { method: 'POST', path: '/hooks', body: true },
  { method: 'DELETE', path: '/hooks/:id' },
  { method: 'GET', path: '/mcp' },
  { method: 'POST', path: '/mcp/:name/reconnect' },
  { method: 'GET', path: '/plugins' },
  { method: 'POST', path: '/plugins/:name/reload' },
  { method: 'POST', path: '/plugins/:name/disable' },
  { method: 'GET', path: '/skills' },
  { method: 'GET', path: '/status' },
  { method: 'GET', path: '/status/health' },
  { method: 'GET', path: '/config' },
  { method: 'PATCH', path: '/config', body: true },
  { method: 'GET', path: '/logs', query: ['level', 'module', 'since', 'limit', 'stream'] },
  { method: 'GET', path: '/logs/stream', query: ['level'] },
];

export const SPECIFICATION_ROUTES: Readonly<Record<ProfileId, readonly SpecificationRoute[]>> = {
  a: PROFILE_A,
  b: PROFILE_B,
};

/** Decisions, section 7: the only paths that need no token. */
const OPEN_PATHS: Readonly<Record<ProfileId, string>> = { a: '/health', b: '/status/health' };

/** Who may use a route: reading and writing are two scopes of the area that the path begins with. */
export function decidedScope(profile: ProfileId, method: string, fullPath: string): Access['scope'] {
  const path = fullPath.replace(/^\/api\/v1/, '');
  if (path === OPEN_PATHS[profile]) return 'open';
  const first = path.split('/')[1] ?? '';
  const area = first === 'info' ? 'status' : first;
  return `${area}:${method === 'GET' ? 'read' : 'write'}` as Access['scope'];
}
