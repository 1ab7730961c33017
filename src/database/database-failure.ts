import { types } from 'node:util';
import { GatewayError, Unavailable } from '../errors/gateway-error.js';

/**
 * SQLSTATE classes and codes with which the server says "not now" and does nothing, or takes back what it did:
 * connection refused to this database or user, shutting down, too many connections, lock waits, time limits.
 */
const REFUSED_STATES = /^(08001|08004|28000|28P01|3D000|55000|57P0[1-5]|53[0-4]..|55P03|57014|25006)$/;
/** The connection was lost: what was on its way may have been done. */
const LOST_STATES = /^08...$/;
/** Nobody was reached at all. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN']);
const LOST = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
/** What `pg` and poolers say without a code of their own. */
const UNREACHED_SENTENCES =
  /timeout exceeded when trying to connect|Cannot use a pool after|query_wait_timeout/;
const LOST_SENTENCES =
  /Connection terminated|Client has encountered a connection error|Query read timeout|server_login_retry|server conn crashed/;

/**
 * Turns a driver error into `Unavailable` when the database cannot be asked; everything else stays what it is. Whether
 * anything was changed is only said when it is known: a connection that breaks during a commit tells nobody.
 */
export function databaseFailure(error: unknown): unknown {
  if (error instanceof GatewayError || !types.isNativeError(error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (UNREACHED.has(code) || REFUSED_STATES.test(code) || UNREACHED_SENTENCES.test(error.message)) {
    return unavailable(error);
  }
  if (LOST.has(code) || LOST_STATES.test(code) || LOST_SENTENCES.test(error.message)) return lost(error);
  return error;
}

/** The same for what failed before anything could be committed. */
export function failureBeforeCommit(error: unknown): unknown {
  const failure = databaseFailure(error);
  return failure instanceof ConnectionLost ? unavailable(failure.cause) : failure;
}

/** The connection broke while it answered: whether anything was changed is not known. */
export class ConnectionLost extends Unavailable {}

function unavailable(cause: unknown): Unavailable {
  return new Unavailable('The database cannot be reached at the moment. Try again shortly.', {
    retryAfterSecs: 1,
    details: { reason: 'database_unavailable' },
    cause,
  });
}

function lost(cause: unknown): Unavailable {
  return new ConnectionLost(
    'The connection to the database was lost while it answered: if this was to change something, whether it did is not known. Look before you send it again.',
    { retryAfterSecs: 1, details: { reason: 'database_connection_lost' }, cause },
  );
}
