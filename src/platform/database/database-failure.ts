import { types } from 'node:util';
import { GatewayError, Unavailable } from '../../common/errors/gateway-error.js';

const DUPLICATE = '23505';
const DISK_FULL = '53100';
const TOO_MANY_CONNECTIONS = '53300';
const READ_ONLY = '25006';
const DEADLOCK = '40P01';
/**
 * SQLSTATE classes and codes with which the server refuses for now and has changed nothing, or has rolled back:
 * connection refused for this database or user, shutting down, lock waits, time limits.
 */
const REFUSED_STATES = /^(08001|08004|28000|28P01|3D000|55000|57P0[1-5]|53[0-4]..|55P03|57014|25006)$/;
/**
 * Of these, what no waiting mends: a wrong password, a missing database, a limit of time or memory, a lock that was not
 * free, a server that only reads, and a statement that an operator cancelled.
 */
const LASTING_STATES = /^(28...|3D000|25006|55...|57014|53[24]..)$/;
/** The connection was lost: what it was asked to do may have been done. */
const LOST_STATES = /^08...$/;
/** No server was reached at all. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN']);
const LOST = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
/** What `pg` and poolers report without a code of their own. */
const UNREACHED_SENTENCES =
  /timeout exceeded when trying to connect|Cannot use a pool after|query_wait_timeout|server_login_retry/;
const LOST_SENTENCES =
  /Connection terminated|Client has encountered a connection error|Query read timeout|server conn crashed/;

/**
 * Turns a driver error into `Unavailable` when the database cannot be asked; other errors stay as they are. Says that
 * nothing was changed only when that is certain: it is not after a connection that broke during a commit.
 */
export function databaseFailure(error: unknown): unknown {
  if (error instanceof GatewayError || !types.isNativeError(error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const named = NAMED[code];
  if (named !== undefined) return unavailable(error, named);
  if (UNREACHED.has(code) || REFUSED_STATES.test(code) || UNREACHED_SENTENCES.test(error.message)) {
    return unavailable(error);
  }
  if (LOST.has(code) || LOST_STATES.test(code) || LOST_SENTENCES.test(error.message)) return lost(error);
  return error;
}

/** The same for a failure before anything could be committed. */
export function failureBeforeCommit(error: unknown): unknown {
  const failure = databaseFailure(error);
  return failure instanceof ConnectionLost ? unavailable(failure.cause) : failure;
}

/** The database cannot be asked now. The same question may succeed in a moment. */
export class DatabaseAway extends Unavailable {}

/** The connection broke before the answer arrived: whether anything was changed is unknown. */
export class ConnectionLost extends DatabaseAway {}

/** Whether the database may do the same in a while without anybody's help. */
export function isMendedByWaiting({ cause }: DatabaseAway): boolean {
  const code = types.isNativeError(cause) && 'code' in cause ? String(cause.code) : '';
  return !LASTING_STATES.test(code);
}

/** Whether the server's disk (or its quota) had no room for what was to be stored. */
export function isDiskFull(error: unknown): boolean {
  return types.isNativeError(error) && 'code' in error && error.code === DISK_FULL;
}

/** Whether a row with this key exists already. */
export function isDuplicate(error: unknown): boolean {
  return types.isNativeError(error) && 'code' in error && error.code === DUPLICATE;
}

interface NamedFailure {
  readonly message: string;
  readonly reason: string;
  readonly retryAfterSecs: number;
}

const UNREACHABLE: NamedFailure = {
  message: 'The database cannot be reached at the moment. Try again shortly.',
  reason: 'database_unavailable',
  retryAfterSecs: 1,
};

/** Failures whose cause an operator has to know, by SQLSTATE. In each case the server answered and changed nothing. */
const NAMED: Readonly<Record<string, NamedFailure | undefined>> = {
  [DISK_FULL]: {
    message:
      "The database's disk is full, so nothing was stored. Requests that only read still work; try again when the operator has made room.",
    reason: 'database_disk_full',
    retryAfterSecs: 30,
  },
  [TOO_MANY_CONNECTIONS]: {
    message: 'The database has no connection to spare at the moment. Try again shortly.',
    reason: 'database_connections_exhausted',
    retryAfterSecs: 1,
  },
  [DEADLOCK]: {
    message:
      'Two requests each held what the other needed, so the database ended this one and changed nothing. Try again shortly.',
    reason: 'database_deadlock',
    retryAfterSecs: 1,
  },
  [READ_ONLY]: {
    message:
      'The database is read-only at the moment, as a standby is, so nothing was stored. Try again shortly.',
    reason: 'database_read_only',
    retryAfterSecs: 5,
  },
};

function unavailable(cause: unknown, { message, reason, retryAfterSecs } = UNREACHABLE): Unavailable {
  // A full disk stays full until someone makes room.
  const Failure = reason === 'database_disk_full' ? Unavailable : DatabaseAway;
  return new Failure(message, { retryAfterSecs, details: { reason }, cause });
}

function lost(cause: unknown): Unavailable {
  return new ConnectionLost(
    'The connection to the database was lost while it answered: if this was to change something, whether it did is not known. Look before you send it again.',
    { retryAfterSecs: 1, details: { reason: 'database_connection_lost' }, cause },
  );
}
