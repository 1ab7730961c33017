import {
  InsufficientScopeError,
  OAuthError,
  OAuthErrorCode,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import {
  CredentialsUnreadable,
  failureText,
  isAnswer,
  isFinal,
  isSessionGone,
  toldFailure,
} from './mcp-failure.js';

const http = (status: number): SdkHttpError =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no', { status, statusText: 'No' });

test.each<[string, unknown, boolean]>([
  ['401', http(401), true],
  ['403', http(403), true],
  ['500', http(500), false],
  ['a token that is not taken', new UnauthorizedError('no'), true],
  ['a scope that is missing', new InsufficientScopeError({ requiredScope: 'files' }), true],
  ['a refused client', new OAuthError(OAuthErrorCode.InvalidClient, 'who are you?'), true],
  ['a connection that broke', new Error('socket hang up'), false],
])('%s: whether retrying is pointless', (_what, error, expected) => {
  expect(isFinal(error)).toBe(expected);
});

test('only 400 and 404 mean that the session is unknown', () => {
  const errors = [http(400), http(404), http(401), new Error('404')];
  expect(errors.map(isSessionGone)).toEqual([true, true, false, false]);
});

test.each<[string, unknown, boolean]>([
  ['an error of the protocol', new ProtocolError(-32000, 'no'), true],
  ['an answer that comes too late', new SdkError(SdkErrorCode.RequestTimeout, 'late'), true],
  ['an answer that makes no sense', new SdkError(SdkErrorCode.InvalidResult, 'what?'), true],
  ['a connection that is closed', new SdkError(SdkErrorCode.ConnectionClosed, 'gone'), false],
  ['a status in place of an answer', http(502), false],
  ['anything else', new Error('socket hang up'), false],
])('%s: whether the server has answered', (_what, error, has) => {
  expect(isAnswer(error)).toBe(has);
});

const same = (text: string): string => text;

test('what a library wraps of ours is said once, in our words; callers are not told of files', () => {
  const cause = new CredentialsUnreadable('The token cannot be read: ENOENT, /run/token');
  const wrapped = new Error(`Probe failed: ${cause.message}`, {
    cause,
  });
  expect(failureText(wrapped, same)).toBe('The token cannot be read: ENOENT, /run/token');
  expect(toldFailure(wrapped, same)).toBe(toldFailure(cause, same));
  expect(toldFailure(wrapped, same)).not.toContain('/run/token');
});

test('a failure is one short line, with the cause that libraries hide', () => {
  const cause = new Error('ECONNREFUSED\n  127.0.0.1:1');
  expect(failureText(new Error('fetch failed', { cause }), same)).toBe(
    'fetch failed: ECONNREFUSED 127.0.0.1:1',
  );
  expect(failureText(new Error('fetch failed', { cause: 'a word' }), same)).toBe('fetch failed');
  expect(failureText('not even an error', same)).toBe('not even an error');
  expect(failureText(new Error('x'.repeat(400)), same)).toBe(`${'x'.repeat(299)}…`);
});

test('what is hidden is hidden before the line is cut', () => {
  const error = new Error(`${'x'.repeat(290)} a-secret-of-many-characters`);
  const hide = (text: string): string => text.replaceAll('a-secret-of-many-characters', '***');
  expect(failureText(error, hide)).toBe(`${'x'.repeat(290)} ***`);
});
