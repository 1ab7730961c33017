import { ProtocolError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ConnectionState } from './connection-state.js';
import { McpServerLost, McpToolWithdrawn } from './mcp-failure.js';
import type { McpSession } from './mcp-session.js';
import { ServerCalls, withoutSecrets } from './server-calls.js';

const sessionGone = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no such session', {
  status: 404,
  statusText: 'Not Found',
});

/** The server does not know the first session; giving it up opens the second, whose calls fail with this error. */
function callsThatFailWith(error: Error, isOffered = () => true) {
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
  const settings = { transport: 'http' } as McpServerSettings;
  const parts = { name: 'files', settings, redact, hideKnown: redact };
  const tools = { settled: () => Promise.resolve(), isOffered };
  return { given, call: new ServerCalls(parts, state as unknown as ConnectionState, tools).call };
}

const { signal } = new AbortController();

test('a repeated call reports its failure without secrets', async () => {
  const { call } = callsThatFailWith(new ProtocolError(-32000, 'wrong password hunter2-hunter2'));
  await expect(call('read', {}, signal)).rejects.toThrow('wrong password ***');
});

test('a connection that is lost during a repeated call is given up', async () => {
  const lost = new Error('socket hang up');
  const { call, given } = callsThatFailWith(lost);
  await expect(call('read', {}, signal)).rejects.toThrow(McpServerLost);
  expect(given).toEqual([lost]);
});

test('a call is not repeated when the tool of that name has changed since', async () => {
  const { call } = callsThatFailWith(new Error('never made'), firstOnly());
  await expect(call('read', {}, signal)).rejects.toThrow(McpToolWithdrawn);
});

function firstOnly(): () => boolean {
  let looks = 0;
  return () => {
    looks += 1;
    return looks === 1;
  };
}

test('secrets that are known stand neither in the text of a result, nor in its files or their names', async () => {
  const hideKnown = (text: string): string => text.replace('hunter2-hunter2', '***');
  const data = Buffer.from('is hunter2-hunter2');
  const file = { name: 'hunter2-hunter2.txt', mimeType: 'text/plain', data };
  const answered = () => Promise.resolve({ content: 'hunter2-hunter2', files: [file] });
  const shown = await withoutSecrets({ hideKnown }, answered);
  expect(shown).toMatchObject({ content: '***', files: [{ name: '***.txt', data: Buffer.from('is ***') }] });
});
