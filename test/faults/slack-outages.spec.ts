import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/tokens/token-format.js';
import { type ChannelB, echo } from '../harness/channels.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

// Starts take long on a machine that is busy with others.
jest.setTimeout(180_000);

/** The long form is an outage of a whole minute: GATEWAY_LONG_FAULTS=1. */
const AWAY_MS = process.env.GATEWAY_LONG_FAULTS === '1' ? 60_000 : 3000;

const bench = new ProcessBench();
const token = mintToken();
let slack: TestSlack;
let provider: ScriptedProvider;
let database: TestDatabase;
let replicas: GatewayProcess[] = [];
let direct: string;
let room: string;
beforeAll(async () => {
  [slack, provider, database] = await Promise.all([
    TestSlack.start(),
    startScriptedProvider(),
    createTestDatabase(),
  ]);
  direct = await slack.direct();
  room = await slack.channel('room');
});
afterAll(async () => {
  await bench.clear();
  await Promise.all([slack.stop(), provider.stop()]);
  await database.drop();
});
beforeEach(() => {
  provider.script(echo());
  slack.forget();
});

async function serve(): Promise<GatewayProcess> {
  const replica = await bench.serve({
    env: {
      ...slackEnv(slack, { stream_interval_ms: '0' }),
      ...providerEnv(provider),
      DATABASE_URL: database.url,
      GATEWAY_BOOTSTRAP_TOKEN: token,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
      GATEWAY__DATABASE__POOL_SIZE: '4',
      GATEWAY__LOGGING__LEVEL: 'warn',
    },
  });
  replicas.push(replica);
  return replica;
}

async function untilState(replica: GatewayProcess, status: string, timeoutMs = 20_000): Promise<ChannelB> {
  let found: ChannelB | undefined;
  await eventually(async () => {
    const { body } = await new HttpCaller(replica.b, token).get<{ channels: ChannelB[] }>('/channels');
    found = body.channels.find(({ name }) => name === 'slack');
    expect(found?.status).toBe(status);
  }, timeoutMs);
  return found as ChannelB;
}

/** Who receives, by the lease. */
async function receiver(): Promise<GatewayProcess> {
  const [row] = await database.query<{ owner: string }>(
    `SELECT owner FROM channel_states WHERE name = 'slack'`,
  );
  const found = replicas.find(({ pid }) => row?.owner.split(':').includes(String(pid)) === true);
  if (found === undefined) throw new Error(`Nobody here receives: ${String(row?.owner)}`);
  return found;
}

async function killReceiver(): Promise<void> {
  const victim = await receiver();
  victim.kill('SIGKILL');
  await victim.ended;
  replicas = replicas.filter((replica) => replica !== victim);
}

const textsOf = (channel: string): string[] => slack.said(channel).map(({ text }) => text);
const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `message ${n}`);

test('while Slack is away the channel says so; then all that was written is answered, once and in order', async () => {
  const replica = await serve();
  await untilState(replica, 'connected');
  const thread = await slack.write('a thread', { channel: room });
  await slack.untilSaid(1, room);
  await slack.goAway();
  const away = await untilState(replica, 'reconnecting');
  expect(away.error).toMatch(/^Slack (ended the connection|cannot be reached: connection (refused|reset))$/);
  for (const text of numbered(20)) await slack.write(text, { channel: direct });
  for (const text of numbered(3)) await slack.write(text, { channel: room, thread });
  await sleep(AWAY_MS);
  await slack.comeBack();
  await slack.untilSaid(20, direct, 90_000);
  await slack.untilSaid(4, room, 30_000);
  await slack.write('and on', { channel: direct });
  await slack.untilSaid(21, direct);
  expect(textsOf(direct)).toEqual([...numbered(20), 'and on'].map((text) => `You said: ${text}`));
  expect(textsOf(room)).toEqual(['a thread', ...numbered(3)].map((text) => `You said: ada: ${text}`));
});

test('of two replicas one connects; when it is killed in mid-conversation the other does within ten seconds, and nothing is lost or said twice', async () => {
  await serve();
  for (const replica of replicas) await untilState(replica, 'connected');
  expect(slack.sockets.count).toBe(1);
  const held = heldAnswer();
  provider.script(held.script, echo());
  await slack.write('in the middle', { channel: direct });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  await slack.write('behind it', { channel: direct });
  await receiver();
  const killedAt = performance.now();
  await killReceiver();
  await slack.write('while nobody receives', { channel: room });
  await eventually(() => expect(slack.sockets.count).toBe(1), 20_000);
  expect(performance.now() - killedAt).toBeLessThan(10_000);
  await slack.untilSaid(1, room, 20_000);
  await slack.untilSaid(1, direct, 40_000);
  await eventually(() => expect(textsOf(direct).at(-1)).toBe('You said: behind it'), 40_000);
  held.finish();
  expect(textsOf(room)).toEqual(['You said: ada: while nobody receives']);
  expect(textsOf(direct).slice(0, -1)).toEqual([expect.stringMatching(/interrupted/)]);
});

test('what is written while every replica is down is answered by the next one, but not what was not for the bot', async () => {
  await killReceiver();
  expect(replicas).toEqual([]);
  const elsewhere = await slack.channel('elsewhere');
  for (const text of ['one', 'two', 'three']) await slack.write(text, { channel: direct });
  const thread = await slack.write('among themselves', { channel: elsewhere });
  await slack.write('<@UGATEWAY> what do you think?', { channel: elsewhere, thread });
  await untilState(await serve(), 'connected');
  await slack.untilSaid(3, direct, 30_000);
  await slack.write('still there?', { channel: direct });
  await slack.untilSaid(4, direct, 30_000);
  const all = ['one', 'two', 'three', 'still there?'];
  expect(textsOf(direct)).toEqual(all.map((text) => `You said: ${text}`));
  await slack.untilSaid(1, elsewhere, 30_000);
  expect(textsOf(elsewhere)).toEqual(['You said: ada: what do you think?']);
  expect(slack.said(elsewhere)[0]?.thread).toBe(thread);
});
