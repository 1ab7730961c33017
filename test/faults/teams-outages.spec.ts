import { echo } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { TestTeams, teamsEnv } from '../harness/teams.js';
import { heldAnswer } from '../harness/turn-stream.js';
import { type ChannelKind, ChannelStage } from './support/channel-stage.js';

// Starts take long on a busy machine.
jest.setTimeout(120_000);

const TEAMS: ChannelKind<TestTeams> = {
  name: 'teams',
  start: () => TestTeams.start(),
  env: (teams) => teamsEnv(teams, { stream_interval_ms: '0' }),
};
let stage: ChannelStage<TestTeams>;
beforeAll(async () => {
  stage = await ChannelStage.open(TEAMS);
});
afterAll(() => stage.close());

test('what was accepted before a kill is answered by the next replica; an answer between sending and noting is not sent again', async () => {
  const { platform: teams, provider } = stage;
  const textsOf = (conversation: string): string[] => teams.said(conversation).map(({ text }) => text);
  const first = await stage.serve();
  await stage.untilState(first, 'connected');
  provider.script(echo());
  teams.next('send', 'its answer hangs');
  expect(await teams.write(new URL(first.b).origin, 'did you hear me?', { conversation: 'a:sent' })).toBe(
    200,
  );
  await teams.untilSaid(1, 'a:sent');
  const held = heldAnswer();
  provider.script(held.script, echo());
  expect(await teams.write(new URL(first.b).origin, 'in the middle', { conversation: 'a:open' })).toBe(200);
  await eventually(() => expect(provider.requests).toHaveLength(1));
  expect(await teams.write(new URL(first.b).origin, 'behind it', { conversation: 'a:open' })).toBe(200);
  await stage.killReceiver();
  await stage.serve();
  await teams.untilSaid(2, 'a:sent', 60_000);
  await teams.untilSaid(2, 'a:open', 60_000);
  expect(textsOf('a:sent')).toEqual([
    'You said: did you hear me?',
    expect.stringMatching(/may not have reached you/) as string,
  ]);
  expect(textsOf('a:open')).toEqual(['You said: in the middle', 'You said: behind it']);
});
