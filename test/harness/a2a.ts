import { randomUUID } from 'node:crypto';
import { type Message, Role, type Task, type TaskPushNotificationConfig } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';

/** The SDK's own client, which discovers everything from the card. */
export function a2aClient(base: string, token: string): Promise<Client> {
  const withToken: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const transports = [new JsonRpcTransportFactory({ fetchImpl: withToken })];
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }),
  );
  return factory.createFromUrl(new URL(base).origin);
}

export function a2aMessage(text: string, more: Partial<Message> = {}): Message {
  return {
    ...{ messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, extensions: [] },
    parts: [
      { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' },
    ],
    ...{ metadata: undefined, referenceTaskIds: [] },
    ...more,
  };
}

export function a2aRequest(
  text: string,
  more: Partial<Message> = {},
  returnImmediately = false,
  taskPushNotificationConfig?: TaskPushNotificationConfig,
) {
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately };
  return { tenant: '', message: a2aMessage(text, more), configuration, metadata: undefined };
}

export const askA2a = async (client: Client, ...args: Parameters<typeof a2aRequest>): Promise<Task> =>
  (await client.sendMessage(a2aRequest(...args))) as Task;

export const textOf = (task: Task): string =>
  task.artifacts
    .flatMap(({ parts }) => parts)
    .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
    .join('');
