import { types } from 'node:util';
import { GatewayError, Unavailable } from '../errors/gateway-error.js';

/**
 * SQLSTATE classes and codes that mean "not now": connection lost or refused to this database or user, shutting down,
 * too many connections, lock waits.
 */
const TRANSIENT_STATES = /^(08...|28000|28P01|3D000|55000|57P0[1-5]|53[0-4]..|55P03|57014|25006)$/;
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);
/** What `pg` says without a code. */
const DRIVER_SENTENCES =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Cannot use a pool after|Query read timeout/;

/** Turns a driver error into `Unavailable` when the database cannot be asked; everything else stays what it is. */
export function databaseFailure(error: unknown): unknown {
  if (error instanceof GatewayError || !isUnreachable(error)) return error;
  return new Unavailable(
    'The database cannot be reached at the moment. Nothing was changed; try again shortly.',
    {
      retryAfterSecs: 1,
      details: { reason: 'database_unavailable' },
      cause: error,
    },
  );
}

function isUnreachable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return UNREACHABLE.has(code) || TRANSIENT_STATES.test(code) || DRIVER_SENTENCES.test(error.message);
}
