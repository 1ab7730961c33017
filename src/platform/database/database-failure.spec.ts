import { BadRequest, Unavailable } from '../../common/errors/gateway-error.js';
import { databaseFailure, failureBeforeCommit } from './database-failure.js';

function driverError(message: string, code?: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

const reasonOf = (failure: unknown) =>
  failure instanceof Unavailable ? [failure.status, failure.details?.reason] : failure;

test.each([
  ['connect ECONNREFUSED', 'ECONNREFUSED'],
  ['no such socket', 'ENOENT'],
  ['timeout exceeded when trying to connect', undefined],
  ['terminating connection due to administrator command', '57P01'],
  ['the database system is starting up', '57P03'],
  ['canceling statement due to statement timeout', '57014'],
  ['query_wait_timeout', '08P01'],
  ['server login has been failing, try again later (server_login_retry)', '08P01'],
])('%s (%s) is 503: nothing was done', (message, code) => {
  const failure = databaseFailure(driverError(message, code));
  expect(reasonOf(failure)).toEqual([503, 'database_unavailable']);
  expect(String(failure)).not.toContain('not known');
});

test.each([
  [
    'could not extend file "base/5/16384": No space left on device',
    '53100',
    'database_disk_full',
    'disk is full',
  ],
  ['sorry, too many clients already', '53300', 'database_connections_exhausted', 'no connection to spare'],
  ['deadlock detected', '40P01', 'database_deadlock', 'changed nothing'],
  ['cannot execute INSERT in a read-only transaction', '25006', 'database_read_only', 'read-only'],
])('%s (%s) is 503 and names its cause', (message, code, reason, words) => {
  const failure = databaseFailure(driverError(message, code));
  expect(reasonOf(failure)).toEqual([503, reason]);
  expect(String(failure)).toContain(words);
  expect(String(failure)).not.toContain('base/');
});

test.each([
  ['read ECONNRESET', 'ECONNRESET'],
  ['Connection terminated unexpectedly', undefined],
  ['Query read timeout', undefined],
  ['server conn crashed?', '08P01'],
])('%s (%s) is 503, and does not claim that nothing was changed', (message, code) => {
  const failure = databaseFailure(driverError(message, code));
  expect(reasonOf(failure)).toEqual([503, 'database_connection_lost']);
  expect(String(failure)).toContain('not known');
});

test('a failure before the commit was sent has changed nothing', () => {
  const failure = failureBeforeCommit(driverError('Connection terminated unexpectedly'));
  expect(reasonOf(failure)).toEqual([503, 'database_unavailable']);
});

test('an error that is not a connection failure stays as it is', () => {
  for (const error of [new BadRequest('no'), driverError('duplicate key', '23505'), 'text', undefined]) {
    expect(databaseFailure(error)).toBe(error);
    expect(failureBeforeCommit(error)).toBe(error);
  }
});
