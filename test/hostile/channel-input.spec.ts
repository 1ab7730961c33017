import { randomUUID } from 'node:crypto';
import { newSession } from '../contract/support/faces.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { channelEnv, telegramEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { postSigned } from '../harness/inbound.js';
import { slackEnv, TestSlack } from '../harness/slack.js';
import { SocketClient } from '../harness/socket-client.js';
import { TestTeams, teamsEnv } from '../harness/teams.js';
import { TestTelegram } from '../harness/telegram.js';
import { type Mutant, mutantsOf, SEED, sampled } from './support/mutants.js';

jest.setTimeout(600_000);

/** How many are drawn for each platform. */
const DRAWN = 250;
const SECRET = 'a secret of eight and more';

let telegram: TestTelegram;
let slack: TestSlack;
let teams: TestTeams;
let gateway: TestGateway;
let tried = 0;
beforeAll(async () => {
  [telegram, slack, teams] = await Promise.all([TestTelegram.start(), TestSlack.start(), TestTeams.start()]);
  gateway = await startTestGateway({
    env: {
      ...{ GATEWAY__PROVIDER__KIND: 'offline', GATEWAY__LOGGING__LEVEL: 'debug' },
      ...channelEnv('desk', { type: 'webhook', secret: SECRET, allowed_users: '*' }),
      ...{ ...telegramEnv(telegram), ...slackEnv(slack), ...teamsEnv(teams) },
    },
  });
  for (const channel of ['telegram', 'slack', 'teams']) await untilChannel(gateway, channel, 'connected');
});
afterEach(() => {
  expect(gateway.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), slack.stop(), teams.stop()]);
  figure(['bad-input'], { channels: tried });
});

const own = (): string => `http://127.0.0.1:${gateway.started.ports.b}`;
const drawn = (...sound: object[]): Mutant[] => {
  const all = sampled(sound.flatMap(mutantsOf), DRAWN);
  tried += all.length;
  return all;
};
const PICTURE = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');

/** Each is posted; a status that says that the gateway failed is one. */
async function postAll(
  mutants: readonly Mutant[],
  post: (text: string) => Promise<[number, string]>,
): Promise<number> {
  const failures: string[] = [];
  let refused = 0;
  await severalAtOnce(mutants, async ({ what, text }) => {
    const [status, said] = await post(text);
    if (status >= 400) refused += 1;
    const isEnvelope =
      status < 400 || typeof (JSON.parse(said) as { error?: { code?: unknown } }).error?.code === 'string';
    if ((status >= 500 && (status < 502 || status > 504)) || !isEnvelope)
      failures.push(`${what}: ${status} ${said}`);
  });
  expect({ seed: SEED, failures }).toEqual({ seed: SEED, failures: [] });
  return refused;
}

test('webhook channels: what is refused is refused in the envelope, and leaves nothing', async () => {
  const message = {
    ...{ conversation: 'c', user: 'ada', content: 'Hello' },
    attachments: [{ url: 'http://127.0.0.1:9/x', name: 'a.png', mime_type: 'image/png' }],
  };
  const post = async (body: string): Promise<[number, string]> => {
    const answer = await postSigned(gateway, 'desk', SECRET, { id: randomUUID(), body });
    return [answer.status, await answer.text()];
  };
  const mutants = drawn(message);
  expect(await postAll(mutants, post)).toBeGreaterThan(mutants.length / 4);
  const [stored] = await gateway.database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM channel_messages WHERE channel = 'desk'`,
  );
  expect(stored?.n).toBeLessThanOrEqual(mutants.length * 0.75);
});

test('Teams: activities of every kind whose parts are anything', async () => {
  const [message, click, consent, left] = [
    teams.activity('<at>Agent</at> Hello', {
      kind: 'channel',
      more: {
        entities: [{ type: 'mention', text: '<at>Agent</at>', mentioned: { id: 'x', name: 'Agent' } }],
        attachments: [{ contentType: 'image/png', contentUrl: `${teams.url}/none`, name: 'a.png' }],
        ...{ locale: 'en', replyToId: '1', localTimestamp: '2026-01-31T12:00:00Z' },
      },
    }),
    {
      ...teams.activity(''),
      type: 'invoke',
      name: 'adaptiveCard/action',
      value: { action: { type: 'Action.Execute', verb: 'x', data: { approval: 'x' } } },
    },
    {
      ...teams.activity(''),
      type: 'invoke',
      name: 'fileConsent/invoke',
      value: {
        type: 'fileUpload',
        action: 'accept',
        context: { file: 'x' },
        uploadInfo: {
          name: 'a',
          contentUrl: 'https://x.example/',
          uploadUrl: 'https://x.example/',
          uniqueId: 'x',
          fileType: 'txt',
        },
      },
    },
    {
      ...teams.activity(''),
      type: 'conversationUpdate',
      membersAdded: [{ id: 'x' }],
      membersRemoved: [{ id: 'y' }],
    },
  ];
  const post = async (body: string): Promise<[number, string]> => {
    const { status, text } = await teams.deliverText(own(), body);
    return [status, text];
  };
  await postAll(drawn(message, click, consent, left), post);
  expect(await teams.write(own(), 'still there?', { conversation: 'a:after' })).toBe(200);
  await teams.untilSaid(1, 'a:after');
});

test('Telegram: an invalid update does not hold up those around it', async () => {
  const from = { id: 7, is_bot: false, first_name: 'Ada', username: 'ada', language_code: 'en' };
  const chat = { id: 1, type: 'private', first_name: 'Ada' };
  const message = {
    ...{ message_id: 1, date: 1_700_000_000, from, chat, text: '@bot Hello' },
    entities: [{ type: 'mention', offset: 0, length: 4 }],
    reply_to_message: { message_id: 2, date: 1_700_000_000, from, chat, text: 'x' },
  };
  const photo = {
    ...{ message_id: 3, date: 1_700_000_000, from, chat, caption: 'Look', media_group_id: 'g' },
    photo: [{ file_id: 'none', file_unique_id: 'n', width: 1, height: 1, file_size: 1 }],
  };
  const document = {
    ...{ message_id: 4, date: 1_700_000_000, from, chat },
    document: {
      file_id: 'none',
      file_unique_id: 'n',
      file_name: 'a.txt',
      mime_type: 'text/plain',
      file_size: 1,
    },
  };
  const click = { id: 'q', from, chat_instance: 'x', message, data: 'agw:x' };
  const mutants = drawn(
    { message },
    { message: photo },
    { message: document },
    { edited_message: message },
    { callback_query: click },
  );
  const updates = mutants.map(({ text }, n) =>
    (text.startsWith('{') ? `{"update_id":${1_000_000 + n},${text.slice(1)}` : text).replace(/,}$/, '}'),
  );
  const rounds: string[] = [];
  for (let at = 0; at < updates.length; at += 50)
    rounds.push(
      `[${updates
        .slice(at, at + 50)
        .filter(isJson)
        .join()}]`,
    );
  rounds.push('[null]');
  for (const result of rounds)
    telegram.next('getUpdates', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"ok":true,"result":${result}}`);
    });
  const last = {
    update_id: 2_000_000,
    message: { ...message, message_id: 99, chat: { ...chat, id: 4242 }, text: 'still there?' },
  };
  telegram.next('getUpdates', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ok: true, result: [last] }));
  });
  await telegram.untilSaid(1, 4242, 90_000);
  const lost = gateway.logLines.filter((line) => /channel::telegram.*is not connected/.test(line));
  // Only what has no id is asked for again, after a pause.
  expect(lost.filter((line) => !line.includes('not understood'))).toEqual([]);
  await untilChannel(gateway, 'telegram', 'connected');
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('Slack: invalid frames of socket mode do not end its connection', async () => {
  const channel = await slack.direct();
  const user = 'U0000001';
  const event = {
    ...{
      type: 'message',
      channel_type: 'im',
      channel,
      user,
      text: `<@UGATEWAY> Hello`,
      ts: '1700000000.000100',
    },
    ...{ event_ts: '1700000000.000100', thread_ts: '1700000000.000050', subtype: 'file_share' },
    files: [
      {
        id: 'F1',
        name: 'a.png',
        mimetype: 'image/png',
        size: 1,
        mode: 'hosted',
        url_private_download: 'http://127.0.0.1:9/',
      },
    ],
    blocks: [{ type: 'rich_text', elements: [] }],
  };
  const envelope = (type: string, payload: object) => ({
    ...{ envelope_id: 'e', type, accepts_response_payload: false, retry_attempt: 0, retry_reason: '' },
    payload,
  });
  const click = {
    ...{
      type: 'block_actions',
      team: { id: 'T1' },
      user: { id: user, team_id: 'T1' },
      channel: { id: channel },
    },
    container: { type: 'message', channel_id: channel, message_ts: '1.1' },
    actions: [{ type: 'button', action_id: 'agw_approval_primary', block_id: 'b', value: 'x' }],
  };
  const mutants = drawn(
    envelope('events_api', { team_id: 'T1', type: 'event_callback', event_id: 'Ev1', event_time: 1, event }),
    envelope('interactive', click),
    { type: 'hello', num_connections: 1, connection_info: { app_id: 'A' } },
  );
  for (const { text } of mutants) slack.sockets.say(text);
  const after = await slack.direct('grace');
  await eventually(() => expect(slack.sockets.count).toBeGreaterThan(0), 30_000);
  await slack.write('still there?', { channel: after, user: 'grace' });
  await slack.untilSaid(1, after, 60_000);
  await untilChannel(gateway, 'slack', 'connected');
});

/** The only ends of a connection that a client brings about: too much, or what is no text. */
const OWN_FAULT = [1003, 1007, 1008, 1009];

test('WebSocket: every invalid frame is answered with an error, and the next frame as if it had not been there', async () => {
  const frames = [
    {
      ...{ type: 'message', content: 'Hello', temperature: 1, top_p: 1, tool_choice: 'auto', stop: ['x'] },
      attachments: [{ type: 'image', name: 'a.png', mime_type: 'image/png', data: PICTURE }],
      response_format: { type: 'json_schema', name: 'n', schema: { type: 'object' } },
    },
    { type: 'tool_approval', approval_id: 'appr_x', decision: 'allow' },
    { type: 'tool_answer', question_id: 'q_x', action: 'accept', content: { a: 1 } },
    { type: 'cancel' },
    { type: 'ping' },
  ];
  const session = await newSession(gateway.b);
  const open = () =>
    SocketClient.open(`ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${session}`, {
      headers: { authorization: `Bearer ${gateway.token}` },
    });
  let client = await open();
  const failures: string[] = [];
  let refused = 0;
  for (const { what, text } of drawn(...frames)) {
    const seen = client.frames.length;
    client.socket.send(text);
    client.socket.send('{"type":"ping"}');
    await eventually(() =>
      expect(
        client.closed !== undefined || client.frames.slice(seen).some(({ type }) => type === 'pong'),
      ).toBe(true),
    );
    const errors = client.frames.slice(seen).filter(({ type }) => type === 'error');
    refused += errors.length > 0 ? 1 : 0;
    for (const one of errors) {
      const { code, message } = (one['error'] ?? {}) as { code?: unknown; message?: unknown };
      if (code === 'internal_error' || typeof code !== 'string' || typeof message !== 'string')
        failures.push(`${what}: ${JSON.stringify(one)}`);
    }
    if (client.closed === undefined) continue;
    if (!OWN_FAULT.includes(client.closed.code)) failures.push(`${what}: closed with ${client.closed.code}`);
    client = await open();
  }
  client.socket.terminate();
  expect({ seed: SEED, failures }).toEqual({ seed: SEED, failures: [] });
  expect(refused).toBeGreaterThan(DRAWN / 4);
});
