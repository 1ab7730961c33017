import { setTimeout as sleep } from 'node:timers/promises';
import { echo } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { promptly } from '../harness/promptly.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { heldAnswer } from '../harness/turn-stream.js';
import { type ChannelKind, ChannelStage } from './support/channel-stage.js';

// Starts take long on a busy machine.
jest.setTimeout(180_000);

/** GATEWAY_LONG_FAULTS=1 makes the outage last a whole minute. */
const UNREACHABLE_MS = process.env.GATEWAY_LONG_FAULTS === '1' ? 60_000 : 3000;

const SLACK: ChannelKind<TestSlack> = {
  name: 'slack',
  start: () => TestSlack.start(),
  env: (slack) => slackEnv(slack, { stream_interval_ms: '0' }),
};
/** A Slack with a direct conversation and a channel that the bot has joined. */
interface Stage extends ChannelStage<TestSlack> {
  direct: string;
  room: string;
}

async function openStage(): Promise<Stage> {
  const stage = await ChannelStage.open(SLACK);
  const [direct, room] = [await stage.platform.direct(), await stage.platform.channel('room')];
  return Object.assign(stage, { direct, room });
}

/** Leases take time to expire, so tests with their own stage run in parallel. */
let one: Stage;
let other: Stage;
beforeAll(async () => {
  [one, other] = await Promise.all([openStage(), openStage()]);
});
afterAll(() => Promise.all([one.close(), other.close()]));

/** A model that echoes, and an empty history. */
function begin({ platform: slack, provider, direct, room }: Stage) {
  provider.script(echo());
  slack.forget();
  // The platform chooses people's ids.
  const textsOf = (channel: string): string[] =>
    slack.said(channel).map(({ text }) => text.replace(/ \(U\w+\): /, ' (id): '));
  return { slack, provider, direct, room, textsOf };
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `message ${n}`);

test.concurrent('an unreachable Slack shows in the state of the channel; afterwards every message is answered, once and in order', () =>
  one.line.play(async () => {
    const { slack, direct, room, textsOf } = begin(one);
    const replica = await one.serve();
    await one.untilState(replica, 'connected');
    const thread = await slack.write('a thread', { channel: room });
    await slack.untilSaid(1, room);
    await slack.goAway();
    const away = await one.untilState(replica, 'reconnecting');
    expect(away.error).toMatch(
      /^Slack (ended the connection|cannot be reached: connection (refused|reset))$/,
    );
    for (const text of numbered(20)) await slack.write(text, { channel: direct });
    for (const text of numbered(3)) await slack.write(text, { channel: room, thread });
    await sleep(UNREACHABLE_MS);
    await slack.comeBack();
    await slack.untilSaid(20, direct, 90_000);
    await slack.untilSaid(4, room, 30_000);
    await slack.write('and on', { channel: direct });
    await slack.untilSaid(21, direct);
    expect(textsOf(direct)).toEqual([...numbered(20), 'and on'].map((text) => `You said: ${text}`));
    expect(textsOf(room)).toEqual(['a thread', ...numbered(3)].map((text) => `You said: ada (id): ${text}`));
  }));

test.concurrent('one of two replicas connects; when it is killed mid-conversation the other takes over within ten seconds, and nothing is lost or sent twice', () =>
  other.line.play(async () => {
    const { slack, provider, direct, room, textsOf } = begin(other);
    await Promise.all([other.serve(), other.serve()]);
    for (const replica of other.replicas) await other.untilState(replica, 'connected');
    expect(slack.sockets.count).toBe(1);
    // The room also contains the bot's own messages.
    await slack.write('before', { channel: room });
    await slack.untilSaid(1, room);
    slack.forget();
    const held = heldAnswer();
    provider.script(held.script, echo());
    await slack.write('in the middle', { channel: direct });
    await eventually(() => expect(provider.requests).toHaveLength(1));
    await slack.write('behind it', { channel: direct });
    await other.receiver();
    await promptly(10_000, async () => {
      await other.killReceiver();
      await slack.write('while nobody receives', { channel: room });
      await eventually(() => expect(slack.sockets.count).toBe(1), 40_000);
    });
    await slack.untilSaid(1, room, 20_000);
    await slack.untilSaid(1, direct, 40_000);
    await eventually(() => expect(textsOf(direct).at(-1)).toBe('You said: behind it'), 40_000);
    held.finish();
    expect(textsOf(room)).toEqual(['You said: ada (id): while nobody receives']);
    expect(textsOf(direct)).toEqual(['You said: in the middle', 'You said: behind it']);
  }));

test.concurrent('messages written while every replica is down are answered by the next one, except those not meant for the bot', () =>
  one.line.play(async () => {
    const { slack, direct, textsOf } = begin(one);
    await one.killReceiver();
    expect(one.replicas).toEqual([]);
    const elsewhere = await slack.channel('elsewhere');
    for (const text of ['one', 'two', 'three']) await slack.write(text, { channel: direct });
    const thread = await slack.write('among themselves', { channel: elsewhere });
    await slack.write('<@UGATEWAY> what do you think?', { channel: elsewhere, thread });
    await one.untilState(await one.serve(), 'connected');
    await slack.untilSaid(3, direct, 30_000);
    await slack.write('still there?', { channel: direct });
    await slack.untilSaid(4, direct, 30_000);
    const all = ['one', 'two', 'three', 'still there?'];
    expect(textsOf(direct)).toEqual(all.map((text) => `You said: ${text}`));
    await slack.untilSaid(1, elsewhere, 30_000);
    expect(textsOf(elsewhere)).toEqual(['You said: ada (id): what do you think?']);
    expect(slack.said(elsewhere)[0]?.thread).toBe(thread);
  }));
