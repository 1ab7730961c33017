import { eventually } from './eventually.js';
import type { TestGateway } from './gateway.js';
import { wires } from './provider-wires.js';
import { beginStream, type Script } from './scripted-provider.js';
import { BOT_TOKEN, type TestTelegram } from './telegram.js';

export interface ChannelB {
  readonly name: string;
  readonly status: string;
  readonly connected_at?: string;
  readonly active_sessions: number;
  readonly error?: string;
}

type Env = Record<string, string>;

/** The settings of a channel as variables. */
export function channelEnv(name: string, settings: Readonly<Record<string, string>>): Env {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      `GATEWAY__CHANNELS_CONFIG__${name.toUpperCase()}__${key.toUpperCase()}`,
      value,
    ]),
  );
}

/** A bot on loopback that lets everyone in. */
export function telegramEnv(telegram: TestTelegram, more: Readonly<Record<string, string>> = {}): Env {
  return channelEnv('telegram', {
    type: 'telegram',
    token: BOT_TOKEN,
    api_url: telegram.url,
    allowed_users: '*',
    poll_timeout_secs: '2',
    ...more,
  });
}

export async function channelB(gateway: TestGateway, name: string): Promise<ChannelB> {
  const { body } = await gateway.b.get<{ channels: ChannelB[] }>('/channels');
  const found = body.channels.find((channel) => channel.name === name);
  if (found === undefined) throw new Error(`There is no channel ${name}.`);
  return found;
}

export async function untilChannel(
  gateway: TestGateway,
  name: string,
  status: string,
  timeoutMs = 20_000,
): Promise<ChannelB> {
  let found: ChannelB | undefined;
  await eventually(async () => {
    found = await channelB(gateway, name);
    if (found.status !== status) throw new Error(`${name} is ${found.status}: ${found.error ?? ''}`);
  }, timeoutMs);
  return found as ChannelB;
}

/** A model that repeats the last message, so that every answer shows which message it belongs to. */
export function echo(prefix = 'You said: '): Script {
  return (response, { body }) => {
    const wire = wires[0];
    const said = (body['messages'] as { content: unknown }[]).at(-1)?.content;
    const text = typeof said === 'string' ? said : JSON.stringify(said);
    beginStream(
      response,
      ...(wire?.opening ?? []),
      wire?.text(prefix + text) ?? '',
      ...(wire?.closing ?? []),
    );
    response.end();
  };
}
