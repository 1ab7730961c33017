import { setTimeout as sleep } from 'node:timers/promises';
import { echo, telegramEnv, untilChannel } from '../harness/channels.js';
import { createTestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { startScriptedProvider } from '../harness/scripted-provider.js';
import { TestTelegram } from '../harness/telegram.js';
import { providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(180_000);

/** GATEWAY_LONG_FAULTS=1 makes the outage last a whole minute. */
const isLong = process.env.GATEWAY_LONG_FAULTS === '1';
const PLATFORM_AWAY_MS = isLong ? 60_000 : 3000;
/** Longer than the receiver's lease. */
const DATABASE_AWAY_MS = 7000;

/** A gateway with its own Telegram, its own model, and a database that can be disconnected. */
interface Stage {
  readonly telegram: TestTelegram;
  readonly relay: FaultProxy;
  readonly gateway: TestGateway;
  textsOf(chat: number): string[];
  close(): Promise<void>;
}

async function openStage(): Promise<Stage> {
  const [telegram, provider, database] = await Promise.all([
    TestTelegram.start(),
    startScriptedProvider(),
    createTestDatabase(),
  ]);
  provider.script(echo());
  const relay = await FaultProxy.to(database.url);
  const gateway = await startTestGateway({
    database: { ...database, url: relay.url },
    env: { ...telegramEnv(telegram), ...providerEnv(provider) },
  });
  await untilChannel(gateway, 'telegram', 'connected');
  return {
    telegram,
    relay,
    gateway,
    textsOf: (chat) => telegram.said(chat).map(({ text }) => text),
    close: async () => {
      await gateway.stop();
      await relay.cut();
      await Promise.all([telegram.stop(), provider.stop(), database.drop()]);
    },
  };
}

/** One outage each, in parallel. */
let first: Stage;
let second: Stage;
beforeAll(async () => {
  [first, second] = await Promise.all([openStage(), openStage()]);
});
afterAll(() => Promise.all([first.close(), second.close()]));

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `message ${n}`);

test.concurrent('an unreachable platform shows in the state of the channel; afterwards every message is answered, once and in order', async () => {
  const { telegram, gateway, textsOf } = first;
  await telegram.goAway();
  const away = await untilChannel(gateway, 'telegram', 'reconnecting');
  expect(away.error).toMatch(/Telegram cannot be reached: connection (refused|reset)/);
  await eventually(async () => {
    expect((await gateway.a.get<{ status: string }>('/health')).body.status).toBe('degraded');
  });
  for (const text of numbered(20)) await telegram.write(text, { chat: 1 });
  await sleep(PLATFORM_AWAY_MS);
  await telegram.comeBack();
  await telegram.untilSaid(20, 1, 90_000);
  expect(textsOf(1)).toEqual(numbered(20).map((text) => `You said: ${text}`));
  await untilChannel(gateway, 'telegram', 'connected');
});

test.concurrent('while the database is away no message is accepted; afterwards every message is answered, once and in order', async () => {
  const { telegram, relay, gateway, textsOf } = second;
  await telegram.write('before', { chat: 2 });
  await telegram.untilSaid(1, 2);
  await relay.cut();
  for (const text of numbered(5)) await telegram.write(text, { chat: 2 });
  await sleep(DATABASE_AWAY_MS);
  expect(textsOf(2)).toEqual(['You said: before']);
  await relay.mend();
  await telegram.untilSaid(6, 2, 60_000);
  await untilChannel(gateway, 'telegram', 'connected');
  expect(textsOf(2)).toEqual(['before', ...numbered(5)].map((text) => `You said: ${text}`));
});
