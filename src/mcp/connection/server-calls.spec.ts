import { ProtocolError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import type { ConnectionState } from './connection-state.js';
import { McpServerLost } from './mcp-failure.js';
import type { McpSession } from './mcp-session.js';
import { ServerCalls } from './server-calls.js';

const sessionGone = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no such session', {
  status: 404,
  statusText: 'Not Found',
});

/** The first session is unknown to the server; whoever gives it up gets the second, whose calls fail with this. */
function callsThatFailWith(error: Error) {
  const given: unknown[] = [];
  const second = {
    call: () => Promise.reject(error),
    giveUp: (why: unknown) => given.push(why),
  } as unknown as McpSession;
  const state = { session: undefined as McpSession | undefined, isUp: () => true };
  state.session = {
    call: () => Promise.reject(sessionGone),
    giveUp: () => (state.session = second),
  } as unknown as McpSession;
  const redact = (text: string): string => text.replace('hunter2-hunter2', '***');
  const parts = { name: 'files', redact, hideKnown: redact };
  return { given, call: new ServerCalls(parts, state as unknown as ConnectionState).call };
}

const { signal } = new AbortController();

test('a call that is made again says what goes wrong in the same words, without secrets', async () => {
  const { call } = callsThatFailWith(new ProtocolError(-32000, 'wrong password hunter2-hunter2'));
  await expect(call('read', {}, signal)).rejects.toThrow('wrong password ***');
});

test('a connection that is lost during a call that is made again is given up', async () => {
  const lost = new Error('socket hang up');
  const { call, given } = callsThatFailWith(lost);
  await expect(call('read', {}, signal)).rejects.toThrow(McpServerLost);
  expect(given).toEqual([lost]);
});
