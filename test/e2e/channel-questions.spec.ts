import { telegramEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { asking, McpBench, serverB } from '../harness/mcp.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { TestTeams, teamsEnv } from '../harness/teams.js';
import { TestTelegram } from '../harness/telegram.js';

let telegram: TestTelegram;
let slack: TestSlack;
let teams: TestTeams;
let bench: McpBench;
let gateway: TestGateway;
let nextChat = 700;
beforeAll(async () => {
  [telegram, slack, teams] = await Promise.all([TestTelegram.start(), TestSlack.start(), TestTeams.start()]);
  bench = await McpBench.make(
    { trip: asking(`chat-${process.pid}`) },
    '[mcp]\nquestion_timeout_ms = 20000\n',
  );
  const quiet = { stream_interval_ms: '0' };
  gateway = await startTestGateway({
    env: {
      ...bench.env,
      ...telegramEnv(telegram, quiet),
      ...slackEnv(slack, quiet),
      ...teamsEnv(teams, quiet),
    },
  });
  for (const name of ['telegram', 'slack', 'teams']) await untilChannel(gateway, name, 'connected');
  await eventually(async () => expect((await serverB(gateway, 'trip'))?.status).toBe('connected'), 60_000);
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), slack.stop(), teams.stop(), bench.clear()]);
});

const asks = (properties: object, message = 'How many?', required = Object.keys(properties)): string => {
  const requestedSchema = { type: 'object', properties, required };
  return `/call trip__ask ${JSON.stringify({ message, requestedSchema })}`;
};
const SEATS = { seats: { type: 'integer', title: 'Seats', minimum: 1, maximum: 9 } };

/** The outcome that the tool received, as the offline model repeats it. */
const heard = async (chat: number, said: number): Promise<string> =>
  (await telegram.untilSaid(said, chat, 40_000)).at(-1)?.text ?? '';
const texts = (chat: number) => telegram.said(chat).map(({ text }) => text);

test.each<[string, object, string, string]>([
  ['a number', SEATS, '4', '"seats":4'],
  ['a text', { day: { type: 'string' } }, 'next Monday', '"day":"next Monday"'],
  ['a yes', { sure: { type: 'boolean' } }, 'Yes!', '"sure":true'],
  ['a no', { sure: { type: 'boolean' } }, 'no', '"sure":false'],
  [
    'a choice by its name',
    { size: { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Medium'] } },
    'medium',
    '"size":"m"',
  ],
  ['a choice by its number', { size: { type: 'string', enum: ['s', 'm'] } }, '2', '"size":"m"'],
  [
    'choices',
    { tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } } },
    'a, 3',
    '"tags":["a","c"]',
  ],
  ['nothing but a yes', {}, 'ok', '"action":"accept"'],
  ['a refusal', SEATS, 'decline', '"action":"decline"'],
])(
  'a question in a private chat is answered by the next message: %s',
  async (_what, form, answer, outcome) => {
    const chat = nextChat++;
    await telegram.write(asks(form), { chat });
    await telegram.untilSaid(1, chat);
    expect(texts(chat)[0]).toContain('The tool trip__ask asks:');
    expect(texts(chat)[0]).toContain('How many?');
    await telegram.write(answer, { chat });
    expect(await heard(chat, 2)).toContain(outcome);
    await telegram.write('/tools', { chat });
    await telegram.untilSaid(3, chat);
    expect(texts(chat)).toHaveLength(3);
  },
);

test('what is no answer is asked for again, three times in all, and the conversation goes on', async () => {
  const chat = nextChat++;
  await telegram.write(asks(SEATS), { chat });
  await telegram.untilSaid(1, chat);
  for (const [answer, said] of [
    ['many', 2],
    ['10', 3],
    ['0', 4],
  ] as const) {
    await telegram.write(answer, { chat });
    await telegram.untilSaid(said, chat, 30_000);
  }
  expect(texts(chat)[2]).toContain('I could not read that as an answer.');
  expect(texts(chat)[3]).toContain('"action":"cancel"');
});

test('what was written before the question is no answer to it, and is answered afterwards', async () => {
  const chat = nextChat++;
  // A person whose connection to the server is not open yet.
  await telegram.write(asks(SEATS), { chat, user: 77 });
  await telegram.write('/tools', { chat, user: 77 });
  const first = (await telegram.untilSaid(1, chat))[0]?.text;
  expect(first).toContain('asks:');
  await telegram.write('5', { chat, user: 77 });
  await telegram.untilSaid(3, chat, 40_000);
  expect(texts(chat)[1]).toContain('"seats":5');
  expect(texts(chat)[2]).toContain('trip__ask');
});

test('in a group only the person for whom the tool acts answers', async () => {
  const chat = -nextChat++;
  // The sender's name precedes the first line.
  await telegram.write(`go\n${asks(SEATS)}`, { chat, type: 'group', user: 7, name: 'ada' });
  await telegram.untilSaid(1, chat);
  await telegram.write('9', { chat, type: 'group', user: 8, name: 'grace' });
  await telegram.write('3', { chat, type: 'group', user: 7, name: 'ada' });
  await telegram.untilSaid(3, chat, 40_000);
  expect(texts(chat)[1]).toContain('"seats":3');
});

test('several fields are answered elsewhere: the person is told, and their message waits', async () => {
  const chat = nextChat++;
  await telegram.write(asks({ ...SEATS, day: { type: 'string', title: 'Day' } }), { chat });
  await telegram.untilSaid(1, chat);
  expect(texts(chat)[0]).toContain('It wants several answers (Day, Seats)');
  await telegram.write('/tools', { chat });
  const { body } = await gateway.admin.get<{ items: { id: string }[] }>('/questions');
  const answered = await gateway.admin.post(`/questions/${body.items[0]?.id}/answer`, {
    action: 'accept',
    content: { seats: 2, day: 'Monday' },
  });
  expect(answered.status).toBe(200);
  expect((await telegram.untilSaid(3, chat, 40_000))[1]?.text).toContain('"day":"Monday"');
});

test('at Slack it is asked and answered in the thread, at Teams in the conversation', async () => {
  const room = await slack.channel('asking');
  const thread = await slack.write(`go\n${asks(SEATS)}`, { channel: room });
  const [first] = await slack.untilSaid(1, room, 30_000);
  expect(first).toMatchObject({ thread });
  expect(first?.text).toContain('How many?');
  await slack.write('6', { channel: room, thread });
  expect((await slack.untilSaid(2, room, 30_000))[1]?.text).toContain('"seats":6');

  const origin = `http://127.0.0.1:${gateway.started.ports.b}`;
  expect(await teams.write(origin, asks(SEATS), { conversation: 'a:ask' })).toBe(200);
  expect((await teams.untilSaid(1, 'a:ask', 30_000))[0]?.text).toContain('How many?');
  expect(await teams.write(origin, '7', { conversation: 'a:ask' })).toBe(200);
  const said = await teams.untilSaid(2, 'a:ask', 30_000);
  expect(said[1]?.text.replaceAll('\\', '')).toContain('"seats":7');
});
