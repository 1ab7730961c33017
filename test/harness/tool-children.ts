import { tmpdir } from 'node:os';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { ChildTransport } from '../../src/areas/mcp/transport/child-transport.js';

export const PING = { jsonrpc: '2.0', id: 1, method: 'ping' } as const satisfies JSONRPCMessage;
export const ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} });

const running: ChildTransport[] = [];

/** A tool server that is this script, and what the gateway sees of it. */
export function child(script: string, file = '/bin/sh') {
  const seen = { messages: [] as JSONRPCMessage[], output: [] as string[], closed: 0 };
  const command = { file, args: ['-c', script], cwd: tmpdir(), env: {} };
  const transport = new ChildTransport(
    command,
    (line) => seen.output.push(line),
    (reason) => seen.output.push(reason),
  );
  transport.onmessage = (message) => seen.messages.push(message);
  transport.onclose = () => (seen.closed += 1);
  running.push(transport);
  return { transport, seen };
}

/** For `afterEach`. */
export const closeChildren = () => Promise.all(running.splice(0).map((transport) => transport.close()));
