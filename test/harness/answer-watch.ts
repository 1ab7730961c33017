import type { AccessLog } from '../../src/http/access-log/access-log.js';
import { routeOf } from '../../src/http/gateway-request.js';
import { DocumentedAnswers } from './documented.js';

/** Checks every response of a gateway that a test starts: its status must be in the API documents. */
export function watchAnswers(accessLog: AccessLog): { check(): void } {
  const undocumented = new Set<string>();
  const finished = accessLog.finished.bind(accessLog);
  accessLog.finished = (request, response) => {
    const route = routeOf(request);
    const { profile, face, method } = request;
    if (profile !== 'operations' && route !== undefined && response.headersSent) {
      // The protocols of the other faces are documented elsewhere.
      const id = face === undefined || face === 'admin' ? (face ?? profile) : undefined;
      if (id !== undefined && !DocumentedAnswers.of(id).has(method, route, response.statusCode))
        undocumented.add(`Profile ${profile}: ${method} ${route} answered ${response.statusCode}`);
    }
    finished(request, response);
  };
  return {
    check: () => {
      if (undocumented.size === 0) return;
      const list = [...undocumented].join('; ');
      throw new Error(`The OpenAPI documents do not have these answers: ${list}.`);
    },
  };
}
