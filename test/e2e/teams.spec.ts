import { echo, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { APP_ID, APP_SECRET, type Posting, TENANT, TestTeams, teamsEnv } from '../harness/teams.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

let teams: TestTeams;
let provider: ScriptedProvider;
let gateway: TestGateway;
let url: string;
let count = 0;
beforeAll(async () => {
  [teams, provider] = await Promise.all([TestTeams.start(), startScriptedProvider()]);
  const env = { ...teamsEnv(teams, { stream_interval_ms: '0' }), ...providerEnv(provider) };
  gateway = await startTestGateway({ env });
  url = `http://127.0.0.1:${gateway.started.ports.b}`;
  await untilChannel(gateway, 'teams', 'connected');
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([teams.stop(), provider.stop()]);
});
beforeEach(() => provider.script(echo()));

const textsOf = (conversation: string): string[] => teams.said(conversation).map(({ text }) => text);
const nextConversation = (): string => `a:${++count}-conversation`;

/**
 * Writes in a new conversation.
 * @returns the bot's messages there, once there are any
 */
async function write(text: string, posting: Posting = {}): Promise<string[]> {
  const conversation = posting.conversation ?? nextConversation();
  expect(await teams.write(url, text, { ...posting, conversation })).toBe(200);
  await teams.untilSaid(1, conversation);
  return textsOf(conversation);
}

test('a personal message is answered by a session that the API lists, for the user of the directory', async () => {
  expect(await write('Is 1 &lt; 2 &amp; so?')).toEqual(['You said: Is 1 < 2 & so?']);
  const { body } = await gateway.b.get<{ sessions: { user_id: string }[] }>('/sessions?channel=teams');
  expect(body.sessions[0]?.user_id).toBe('teams:0000000a-0000-0000-0000-000000000001');
  expect(teams.callsOf('typing').length).toBeGreaterThan(0);
});

test('in a channel every thread is a conversation; the mention of the bot goes, others are names', async () => {
  const [one, other] = ['19:room@thread.tacv2;messageid=1', '19:room@thread.tacv2;messageid=2'];
  const mentions = [
    { type: 'mention', mentioned: { id: `28:${APP_ID}`, name: 'Agent' }, text: '<at>Agent</at>' },
    { type: 'mention', mentioned: { id: '29:grace', name: 'Grace' }, text: '<at>Grace</at>' },
  ];
  const posting = { kind: 'channel', more: { entities: mentions } } as const;
  expect(await write('<at>Agent</at> ask <at>Grace</at>', { ...posting, conversation: one })).toEqual([
    'You said: Ada (0000000a-0000-0000-0000-000000000001): ask @Grace',
  ]);
  // A name with characters that are special in a replacement stays as it is.
  const priced = { type: 'mention', mentioned: { id: '29:eve', name: "$`$'$&" }, text: '<at>Eve</at>' };
  const entities = [...mentions, priced];
  const elsewhere = { ...posting, more: { entities }, conversation: other };
  expect(await write('<at>Agent</at> and <at>Eve</at>?', elsewhere)).toEqual([
    "You said: Ada (0000000a-0000-0000-0000-000000000001): and @$`$'$&?",
  ]);
  const rows = await gateway.database.query<{ n: number }>(
    `SELECT count(DISTINCT session_id)::int AS n FROM channel_conversations WHERE conversation LIKE '19:room%'`,
  );
  expect(rows[0]?.n).toBe(2);
});

test('an activity that the connector repeats is answered once; joins, reactions and deletions are not', async () => {
  const conversation = nextConversation();
  const activity = teams.activity('only once', { conversation });
  for (let n = 0; n < 3; n++) expect(await teams.post(url, activity)).toBe(200);
  for (const type of ['conversationUpdate', 'messageReaction', 'messageDelete', 'installationUpdate'])
    expect(await teams.write(url, '', { conversation, more: { type } })).toBe(200);
  await teams.write(url, 'go on', { conversation });
  await teams.untilSaid(2, conversation);
  expect(textsOf(conversation)).toEqual(['You said: only once', 'You said: go on']);
});

test('edits, quoted messages, pictures and files reach the model; the token goes to the connector alone', async () => {
  const edit = { type: 'messageUpdate', channelData: { eventType: 'editMessage', tenant: { id: TENANT } } };
  expect((await write('better', { more: edit }))[0]).toContain('which its writer has edited');
  const quote = { messagePreview: 'We ship soon', messageSender: { user: { displayName: 'Grace' } } };
  const attachments = [{ contentType: 'messageReference', content: JSON.stringify(quote) }];
  expect((await write('When?', { more: { attachments } }))[0]).toContain('In reply to this message of Grace');
  const png = Buffer.from('89504e470d0a1a0a0000', 'hex');
  await write('see', { more: { attachments: [{ contentType: 'image/*', contentUrl: teams.file(png) }] } });
  expect(provider.requests.at(-1)?.text).toContain('data:image/png;base64,');
  const before = teams.callsOf('file').length;
  const elsewhere = { downloadUrl: teams.file(png).replace('127.0.0.1', 'localhost') };
  const file = {
    contentType: 'application/vnd.microsoft.teams.file.download.info',
    name: 'a.png',
    content: elsewhere,
  };
  const [answer] = await write('read', { more: { attachments: [file] } });
  expect(answer).toContain('(I could not read a.png: it could not be fetched: the answer was 401.)');
  expect(teams.callsOf('file')).toHaveLength(before + 1);
});

test('an answer is shown while it is written, in one message that is edited', async () => {
  await gateway.b.patch('/config', { 'channels_config.teams.stream_interval_ms': 100 });
  await untilChannel(gateway, 'teams', 'connected');
  const held = heldAnswer();
  provider.script(held.script);
  const conversation = nextConversation();
  await teams.write(url, 'Take your time', { conversation });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  held.say('This is the **beginning** of an answer that takes a while');
  await eventually(() => expect(textsOf(conversation)[0]).toContain('takes a while …'));
  held.say(' and goes on');
  held.finish();
  await eventually(() =>
    expect(textsOf(conversation)).toEqual([
      'This is the **beginning** of an answer that takes a while and goes on',
    ]),
  );
  await gateway.b.patch('/config', { 'channels_config.teams.stream_interval_ms': 0 });
  await untilChannel(gateway, 'teams', 'connected');
});

describe('what does not come from the connector is refused, and stores nothing', () => {
  const soon = Math.floor(Date.now() / 1000);
  test.each<[string, Posting]>([
    ['another issuer', { claims: { iss: 'https://sts.example.com' } }],
    ['another app', { claims: { aud: 'someone-else' } }],
    ['another address than the activity names', { claims: { serviceurl: 'https://evil.example.com/' } }],
    ['no address', { claims: { serviceurl: undefined } }],
    ['an expired token', { claims: { exp: soon - 600 } }],
    ['a token of tomorrow', { claims: { nbf: soon + 86_400, exp: soon + 90_000 } }],
    ['a key that is not endorsed for Teams', { kid: 'other' }],
    ['a key that nobody knows', { kid: 'unknown' }],
    ['another platform', { more: { channelId: 'skype' } }],
    ['another address in the activity', { more: { serviceUrl: 'http://127.0.0.1:9/' } }],
  ])('%s', async (_what, posting) => {
    const conversation = nextConversation();
    expect(await teams.write(url, 'let me in', { ...posting, conversation })).toBe(401);
    expect(
      await gateway.database.query('SELECT 1 FROM channel_messages WHERE conversation = $1', [conversation]),
    ).toEqual([]);
  });

  test.each([
    ['no token', {}],
    ['no JWT', { authorization: 'Bearer abc' }],
    ['a token of the gateway', { authorization: 'THE TOKEN' }],
    [
      'an unsigned JWT',
      { authorization: `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.x` },
    ],
  ])('%s', async (_what, given: Record<string, string>) => {
    const headers =
      given['authorization'] === 'THE TOKEN' ? { authorization: `Bearer ${gateway.token}` } : given;
    for (const channel of ['teams', 'nobody']) {
      const response = await fetch(`${url}/inbound/${channel}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
      expect(response.status).toBe(401);
    }
  });

  test('a body that is not an activity is 400, another tenant and an unknown sender are ignored', async () => {
    expect(await teams.post(url, { hello: 'there' })).toBe(400);
    const conversation = nextConversation();
    const more = { channelData: { tenant: { id: 'another' } } };
    expect(await teams.write(url, 'from elsewhere', { conversation, more })).toBe(200);
    await gateway.b.patch('/config', { 'channels_config.teams.allowed_users': ['nobody'] });
    await untilChannel(gateway, 'teams', 'connected');
    expect(await teams.write(url, 'a stranger', { conversation })).toBe(200);
    await gateway.b.patch('/config', { 'channels_config.teams.allowed_users': ['*'] });
    await untilChannel(gateway, 'teams', 'connected');
    expect(gateway.logLines.join('\n')).toContain('is not in allowed_users');
    expect(
      await gateway.database.query('SELECT 1 FROM channel_messages WHERE conversation = $1', [conversation]),
    ).toEqual([]);
  });
});

describe('when Teams does not accept an answer', () => {
  test.each([
    [429, { 'retry-after': '1' }],
    [503, {}],
    [412, {}],
  ])('%i did not arrive: it is sent again, and arrives once', async (status, headers) => {
    teams.next('send', (response) => response.writeHead(status, headers).end('{}'));
    expect(await write(`busy ${status}`)).toEqual([`You said: busy ${status}`]);
  });

  test.each(['its answer is lost', 500, 502] as const)(
    '%s may have arrived: not again, and the reader is told',
    async (failure) => {
      teams.next(
        'send',
        typeof failure === 'string' ? failure : (response) => response.writeHead(failure).end(),
      );
      const conversation = nextConversation();
      await teams.write(url, 'heard?', { conversation });
      const heard = typeof failure === 'string' ? ['You said: heard?'] : [];
      await teams.untilSaid(heard.length + 1, conversation);
      expect(textsOf(conversation)).toEqual([...heard, expect.stringMatching(/may not have reached you/)]);
    },
  );

  test('a call without an answer ends with its time, and the reader is told', async () => {
    teams.next('send', 'its answer hangs');
    const conversation = nextConversation();
    await teams.write(url, 'slow?', { conversation });
    await teams.untilSaid(2, conversation);
    expect(textsOf(conversation)[1]).toMatch(/may not have reached you/);
  });

  test('a rejected answer is given up, and the conversation goes on', async () => {
    teams.next('send', (response) =>
      response.writeHead(403).end('{"error":{"code":"ConversationBlockedByUser"}}'),
    );
    const conversation = nextConversation();
    await teams.write(url, 'blocked', { conversation });
    expect(await write('unblocked', { conversation })).toEqual(['You said: unblocked']);
  });

  test('an expired token is replaced at once, and the answer arrives once', async () => {
    teams.tokens.clear();
    const before = teams.callsOf('token').length;
    expect(await write('still there?')).toEqual(['You said: still there?']);
    expect(teams.callsOf('token').length).toBe(before + 1);
  });

  test('refused credentials disconnect the channel, and new ones bring the waiting answer', async () => {
    teams.secret = 'another canary-client-secret';
    teams.tokens.clear();
    await gateway.b.post('/channels/teams/restart');
    const { body } = await gateway.a.post<{ success: boolean; error?: string }>('/channels/teams/test');
    expect(body).toMatchObject({ success: false });
    expect(body.error).toContain('Microsoft refuses the credentials of the app: 401 invalid_client');
    await untilChannel(gateway, 'teams', 'disconnected');
    const conversation = nextConversation();
    expect(await teams.write(url, 'anyone?', { conversation })).toBe(200);
    teams.secret = APP_SECRET;
    await gateway.b.post('/channels/teams/restart');
    await teams.untilSaid(1, conversation);
    expect(textsOf(conversation)).toEqual(['You said: anyone?']);
  });
});

test('no log line, response or row has a secret or a token', async () => {
  const [config, logs] = await Promise.all([
    gateway.b.get('/config'),
    gateway.b.get('/logs?level=trace&limit=500'),
  ]);
  const rows = await gateway.database.query<{ all: string }>(
    `SELECT (SELECT string_agg(s::text, '') FROM channel_states s) || (SELECT string_agg(r::text, '') FROM channel_replies r) AS all`,
  );
  const everything = [config.text, logs.text, rows[0]?.all, gateway.logLines.join('\n')].join('\n');
  expect(everything).not.toMatch(/canary-client-secret|canaryBotToken/);
});
