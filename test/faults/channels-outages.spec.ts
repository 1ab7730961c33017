import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseRelay } from '../contract/support/database-relay.js';
import { echo, telegramEnv, untilChannel } from '../harness/channels.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { TestTelegram } from '../harness/telegram.js';
import { providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(180_000);

/** The long form is an outage of a whole minute: GATEWAY_LONG_FAULTS=1. */
const isLong = process.env.GATEWAY_LONG_FAULTS === '1';
const PLATFORM_AWAY_MS = isLong ? 60_000 : 3000;
/** Longer than the lease of whoever receives. */
const DATABASE_AWAY_MS = 7000;

let telegram: TestTelegram;
let provider: ScriptedProvider;
let database: TestDatabase;
let relay: DatabaseRelay;
let gateway: TestGateway;
beforeAll(async () => {
  [telegram, provider, database] = await Promise.all([
    TestTelegram.start(),
    startScriptedProvider(),
    createTestDatabase(),
  ]);
  provider.script(echo());
  relay = await DatabaseRelay.to(database);
  gateway = await startTestGateway({
    database: { ...database, url: relay.url },
    env: { ...telegramEnv(telegram), ...providerEnv(provider) },
  });
  await untilChannel(gateway, 'telegram', 'connected');
});
afterAll(async () => {
  await gateway.stop();
  await relay.cut();
  await Promise.all([telegram.stop(), provider.stop(), database.drop()]);
});

const textsOf = (chat: number): string[] => telegram.said(chat).map(({ text }) => text);
const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `message ${n}`);

test('while the platform is away the channel says so; then all that was written is answered, once and in order', async () => {
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

test('while the database is away nothing is taken; then all that was written is answered, once and in order', async () => {
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
