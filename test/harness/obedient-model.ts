import { LLMock } from '@copilotkit/aimock';
import type { TestGateway } from './gateway.js';
import { SocketClient } from './socket-client.js';

/** A model that calls every tool of the server `own` that a message names, whether it is offered or not. */
export interface ObedientModel {
  readonly mock: LLMock;
  /** The section of the settings that configures it. */
  readonly provider: string;
}

/**
 * A message such as `own__echo own__await=file` makes it call these tools. What follows `=` becomes the argument
 * `text`.
 */
export async function startObedientModel(): Promise<ObedientModel> {
  const mock = new LLMock({ port: 0 });
  await mock.start();
  mock.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'tool' },
    response: { content: 'That is all.' },
  });
  mock.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'user' },
    response: ({ messages }) => {
      const said = JSON.stringify(messages.at(-1)?.content);
      const calls = [...said.matchAll(/(own__\w+)(?:=([^\s"]+))?/g)];
      return {
        toolCalls: calls.map(([, name = '', text = 'x']) => ({ name, arguments: JSON.stringify({ text }) })),
      };
    },
  });
  const provider = `[provider]\nkind = "openai"\nmodel = "m"\napi_key = "key-1234"\nbase_url = "${mock.url}/v1"\n`;
  return { mock, provider };
}

/**
 * Sends a message over a new WebSocket.
 * @returns the `done` frame of its turn
 */
export async function sayOverSocket(
  { started }: Pick<TestGateway, 'started'>,
  {
    sessionId,
    token,
    content,
  }: { readonly sessionId: string; readonly token: string; readonly content: string },
): Promise<Record<string, unknown>> {
  const socket = await SocketClient.open(`ws://127.0.0.1:${started.ports.b}/ws/sessions/${sessionId}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  socket.send({ type: 'message', content });
  const done = await socket.until('done');
  socket.socket.terminate();
  return done;
}
