import type { Access } from '../../src/http/guards/access.decorator.js';
import type { ProfileId } from '../../src/http/profiles/profile.js';
import { SPECIFICATION_TABLES } from './specification-rows.js';

/** A row of an endpoint table: method, path, and which body and query it takes. */
export interface SpecificationRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: boolean;
  readonly query?: readonly string[];
}

/** The rows of an endpoint table of the contract, with what the request column says about body and query. */
const routesOf = (section: string): readonly SpecificationRoute[] =>
  SPECIFICATION_TABLES.filter((table) => table.section === section)
    .flatMap(({ rows }) => rows)
    .map(({ cells: [method, path = '', request = ''] }) => ({
      method: method as SpecificationRoute['method'],
      path,
      ...(request.startsWith('JSON') ? { body: true } : {}),
      ...(request.startsWith('query: ') ? { query: namesIn(request.slice('query: '.length)) } : {}),
    }));

const namesIn = (list: string): readonly string[] =>
  list
    .replaceAll(/\([^)]*\)/g, '')
    .split(',')
    .map((name) => name.trim());

const PROFILE_A = routesOf('4.1');

/**
 * The routes of the contract, and the two message routes that Profile B adds (docs/specification/silences.md,
 * Profiles).
 */
const PROFILE_B = [...routesOf('4.2'), ...PROFILE_A.filter(({ path }) => path === '/sessions/:id/messages')];

export const SPECIFICATION_ROUTES: Readonly<Record<ProfileId, readonly SpecificationRoute[]>> = {
  a: PROFILE_A,
  b: PROFILE_B,
};

/** The only paths without a token (docs/specification/silences.md, Open routes). */
const OPEN_PATHS: Readonly<Record<ProfileId, string>> = { a: '/health', b: '/status/health' };

/** Who may use a route: each area, named by the start of the path, has one scope for reading and one for writing. */
export function decidedScope(profile: ProfileId, method: string, fullPath: string): Access['scope'] {
  const path = fullPath.replace(/^\/api\/v1/, '');
  if (path === OPEN_PATHS[profile]) return 'open';
  const first = path.split('/')[1] ?? '';
  const area = first === 'info' ? 'status' : first;
  return `${area}:${method === 'GET' ? 'read' : 'write'}` as Access['scope'];
}
