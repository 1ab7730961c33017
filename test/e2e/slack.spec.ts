import { setTimeout as sleep } from 'node:timers/promises';
import { channelB, echo, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { promptly } from '../harness/promptly.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { BOT, SLACK_APP_TOKEN, SLACK_BOT_TOKEN, slackEnv, TestSlack } from '../harness/slack.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

let slack: TestSlack;
let provider: ScriptedProvider;
let gateway: TestGateway;
let direct: string;
let room: string;
beforeAll(async () => {
  [slack, provider] = await Promise.all([TestSlack.start(), startScriptedProvider()]);
  direct = await slack.direct();
  room = await slack.channel('room');
  const env = { ...slackEnv(slack, { stream_interval_ms: '100' }), ...providerEnv(provider) };
  gateway = await startTestGateway({ env });
  await untilChannel(gateway, 'slack', 'connected');
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([slack.stop(), provider.stop()]);
});
beforeEach(() => {
  provider.script(echo());
  slack.forget();
});

/** The bot's messages there; the platform chooses people's ids. */
const textsOf = (channel: string): string[] => slack.said(channel).map(({ text }) => withoutId(text));
const withoutId = (text: string): string => text.replace(/ \(U\w+\): /, ' (id): ');

/** A change makes the channel reconnect, and a message sent meanwhile would only be found by catching up. */
async function setting(key: string, value: unknown): Promise<void> {
  const { connections } = slack.sockets;
  await gateway.b.patch('/config', { [`channels_config.slack.${key}`]: value });
  await eventually(() => expect(slack.sockets.connections).toBeGreaterThan(connections));
  await untilChannel(gateway, 'slack', 'connected');
}

async function usersOf(conversation: string): Promise<string[]> {
  const rows = await gateway.database.query<{ user_id: string }>(
    `SELECT s.user_id FROM channel_conversations c JOIN sessions s ON s.id = c.session_id WHERE conversation = $1`,
    [conversation],
  );
  return rows.map(({ user_id: user }) => user);
}

test('a private message is answered by a session that the API lists', async () => {
  await slack.write('Is 1 &lt; 2 &amp; <https://example.com/a|this> so?', { channel: direct });
  await slack.untilSaid(1, direct);
  const [answer] = slack.said(direct);
  expect(answer?.thread).toBeUndefined();
  expect(answer?.text).toBe('You said: Is 1 &lt; 2 &amp; this (https://example.com/a) so?');
  expect(await usersOf(direct)).toEqual([expect.stringMatching(/^slack:U/)]);
  const { active_sessions: active, connected_at: since, error } = await channelB(gateway, 'slack');
  expect(active).toBe(1);
  expect(since).toBeDefined();
  expect(error).toBeUndefined();
});

test('in a channel every message starts a thread with its own session, whose messages are answered in order', async () => {
  const one = await slack.write('first', { channel: room });
  const other = await slack.write('elsewhere', { channel: room, user: 'grace' });
  for (const text of ['second', 'third']) await slack.write(text, { channel: room, thread: one });
  await slack.untilSaid(4, room);
  const said = (thread: string) =>
    slack
      .said(room)
      .filter((message) => message.thread === thread)
      .map(({ text }) => withoutId(text));
  expect(said(one)).toEqual([
    'You said: ada (id): first',
    'You said: ada (id): second',
    'You said: ada (id): third',
  ]);
  expect(said(other)).toEqual(['You said: grace (id): elsewhere']);
  const users = await Promise.all([usersOf(`${room}/${one}`), usersOf(`${room}/${other}`)]);
  expect(users[0]).not.toEqual(users[1]);
});

test('a mention, which Slack reports twice, is answered once, as are repeated events', async () => {
  await slack.write(`<@${BOT}> hello`, { channel: room });
  await slack.untilSaid(1, room);
  slack.sockets.repeatAll();
  await slack.write('and go on', { channel: direct });
  await slack.untilSaid(1, direct);
  expect(textsOf(room)).toEqual(['You said: ada (id): hello']);
  expect(textsOf(direct)).toEqual(['You said: and go on']);
});

test('with mention_only the bot answers in channels only mentions and replies to it', async () => {
  await setting('mention_only', true);
  await slack.write('nobody in particular', { channel: room });
  await slack.write(`<@${BOT}> what do you think?`, { channel: room });
  const thread = '1700000000.000100';
  await slack.write('and why?', { channel: room, thread, more: { parent_user_id: BOT } });
  await slack.write('in private', { channel: direct });
  await slack.untilSaid(2, room);
  await slack.untilSaid(1, direct);
  expect(textsOf(room).sort()).toEqual([
    'You said: ada (id): and why?',
    'You said: ada (id): what do you think?',
  ]);
  await setting('mention_only', null);
});

test('a sender who is not in allowed_users is ignored, also once admitted later; an empty list admits no one', async () => {
  const [stranger, friend] = [await slack.direct('grace'), direct];
  const rows = await usersOf(direct);
  await setting('allowed_users', [rows[0]?.replace('slack:', '')]);
  await slack.write('let me in', { channel: stranger, user: 'grace' });
  await slack.write('I am known', { channel: friend });
  await slack.untilSaid(1, friend);
  expect(gateway.logLines.join('\n')).toContain('is not in allowed_users');
  await setting('allowed_users', []);
  await slack.write('nobody may', { channel: friend });
  const heard = async (): Promise<string> => {
    const [row] = await gateway.database.query<{ ts: string }>(
      `SELECT receive_cursor->>'ts' AS ts FROM channel_states WHERE name = 'slack'`,
    );
    return row?.ts ?? '';
  };
  const last = await slack.write('nor may I', { channel: friend });
  await eventually(async () => expect(await heard()).toBe(last));
  await setting('allowed_users', ['*']);
  await slack.write('now you may', { channel: friend });
  await slack.untilSaid(2, friend);
  expect(textsOf(stranger)).toEqual([]);
  expect(textsOf(friend)).toEqual(['You said: I am known', 'You said: now you may']);
});

test('only messages that people write are answered: no edits, joins, bots, own messages, other workspaces or malformed events', async () => {
  const ts = (): string => (Date.now() / 1000).toFixed(6);
  const base = { type: 'message', channel: direct, channel_type: 'im', text: 'no', user: 'UADA' };
  slack.tell({ ...base, ts: ts(), subtype: 'message_changed' });
  slack.tell({ ...base, ts: ts(), subtype: 'channel_join' });
  slack.tell({ ...base, ts: ts(), bot_id: 'BOTHER' });
  slack.tell({ ...base, ts: ts(), user: BOT });
  slack.tell({ ...base, ts: 'yesterday' });
  slack.tell({ type: 'reaction_added', user: 'UADA' });
  slack.sockets.deliver({
    event: { ...base, ts: ts() },
    authorizations: [{ user_id: 'UOTHER', is_bot: true }],
  });
  slack.sockets.deliver(null);
  slack.sockets.deliver({ event: null });
  for (const text of ['no json', 'null', '[]', '{"type":"events_api"}', '{"type":"slash_commands"}']) {
    slack.sockets.say(text);
  }
  const { connections } = slack.sockets;
  await slack.write('but this', { channel: direct });
  await slack.untilSaid(1, direct);
  expect(textsOf(direct)).toEqual(['You said: but this']);
  expect(slack.sockets.connections).toBe(connections);
});

test('a long answer arrives complete and in order, in parts that Slack accepts, and notifies no one', async () => {
  const words = Array.from({ length: 1500 }, (_, n) => `word${n}😀`).join(' ');
  const held = heldAnswer();
  provider.script(held.script);
  await slack.write('Tell me a lot', { channel: direct });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  held.say(`<!channel> ${words}`);
  held.finish();
  await eventually(() => expect(textsOf(direct).join(' ')).toBe(`&lt;!channel&gt; ${words}`));
  for (const text of textsOf(direct)) expect(text.length).toBeLessThanOrEqual(4000);
});

test("Markdown is shown in Slack's own form, also while it is written, and notifications show its text", async () => {
  const held = heldAnswer();
  provider.script(held.script);
  await slack.write('Format it', { channel: direct });
  held.say('The answer begins with a few words and **one that is im');
  const blocksOf = (method: string): string =>
    slack
      .callsOf(method)
      .map(({ body }) => JSON.stringify(body))
      .join(' ');
  await eventually(() => expect(textsOf(direct).join('')).toMatch(/one that is im …$/));
  held.say('portant**, see [the page](https://example.com/x)');
  held.finish();
  await eventually(() =>
    expect(textsOf(direct).join('')).toMatch(/important, see the page \(https:\/\/example\.com\/x\)$/),
  );
  expect(blocksOf('chat.postMessage')).toContain('rich_text');
  expect(blocksOf('chat.update')).toContain('rich_text');
});

test('an answer is shown while it is written, in one message that grows', async () => {
  const held = heldAnswer();
  provider.script(held.script);
  await slack.write('Take your time', { channel: direct });
  held.say('This is the beginning of an answer that takes a while');
  await eventually(() =>
    expect(textsOf(direct)).toEqual(['This is the beginning of an answer that takes a while …']),
  );
  held.say(' and goes on');
  held.finish();
  await eventually(() =>
    expect(textsOf(direct)).toEqual(['This is the beginning of an answer that takes a while and goes on']),
  );
});

test('health and test make a real round trip; a restart connects again', async () => {
  const { body } = await gateway.b.get<{ healthy: boolean; latency_ms: number }>('/channels/slack/health');
  expect(body).toMatchObject({ name: 'slack', healthy: true });
  expect(body.latency_ms).toBeGreaterThanOrEqual(0);
  expect((await gateway.a.post('/channels/slack/test')).body).toMatchObject({ success: true });
  const before = await channelB(gateway, 'slack');
  await gateway.b.post('/channels/slack/restart');
  const after = await untilChannel(gateway, 'slack', 'connected');
  expect(Date.parse(after.connected_at ?? '')).toBeGreaterThan(Date.parse(before.connected_at ?? ''));
  expect(slack.sockets.count).toBe(1);
});

describe('when Slack does not accept an answer', () => {
  test('a reply that did not arrive is sent again when Slack allows it, and arrives once', async () => {
    slack.next('chat.postMessage', (response) => response.writeHead(429, { 'retry-after': '1' }).end());
    await slack.write('busy?', { channel: direct });
    await slack.untilSaid(1, direct);
    expect(textsOf(direct)).toEqual(['You said: busy?']);
  });

  test('a reply that may have arrived is not sent again, and the reader is told', async () => {
    slack.next('chat.postMessage', 'its answer is lost');
    await slack.write('heard?', { channel: direct });
    await slack.untilSaid(2, direct);
    slack.next('chat.postMessage', { ok: false, error: 'internal_error' });
    await slack.write('gone?', { channel: direct });
    await slack.untilSaid(3, direct);
    const told = expect.stringMatching(/may not have reached you/) as string;
    expect(textsOf(direct)).toEqual(['You said: heard?', told, told]);
  });

  test('a rejected reply is given up, and the conversation goes on', async () => {
    slack.next('chat.postMessage', { ok: false, error: 'channel_not_found' });
    await slack.write('blocked', { channel: direct });
    await slack.write('unblocked', { channel: direct });
    await slack.untilSaid(1, direct);
    expect(textsOf(direct)).toEqual(['You said: unblocked']);
  });
});

describe('when the connection is lost', () => {
  test('Slack renews it, and messages in between are answered in order', async () => {
    slack.sockets.isSilent = true;
    slack.sockets.renew();
    await eventually(() => expect(slack.sockets.count).toBe(1));
    const away = await untilChannel(gateway, 'slack', 'reconnecting');
    expect(away.error).toBe('Slack ended the connection');
    slack.sockets.isSilent = false;
    for (const text of ['one', 'two']) await slack.write(text, { channel: direct });
    slack.sockets.cut();
    await untilChannel(gateway, 'slack', 'connected');
    await slack.write('three', { channel: direct });
    await slack.untilSaid(3, direct);
    expect(textsOf(direct)).toEqual(['one', 'two', 'three'].map((text) => `You said: ${text}`));
  });

  test('a dead peer is noticed', async () => {
    await untilChannel(gateway, 'slack', 'connected');
    const { connections } = slack.sockets;
    slack.sockets.isDeaf = true;
    // The next connection opens at once, so the channel may never be seen as disconnected.
    await eventually(() => expect(slack.sockets.connections).toBeGreaterThan(connections), 60_000);
    slack.sockets.isDeaf = false;
    await untilChannel(gateway, 'slack', 'connected', 60_000);
  }, 150_000);

  test('an address from Slack that the guard refuses is not called', async () => {
    slack.next('apps.connections.open', { ok: true, url: 'ws://10.1.2.3/link?ticket=canary-ticket' });
    await gateway.b.post('/channels/slack/restart');
    const refused = await untilChannel(gateway, 'slack', 'disconnected');
    expect(refused.error).toBe(
      "Slack's address must lead to a public address; the [security] settings name the exceptions",
    );
    await gateway.b.post('/channels/slack/restart');
    await untilChannel(gateway, 'slack', 'connected');
  });
});

describe('when a token is refused', () => {
  const other = 'xoxb-4711147-anotherCanaryOfATestBot';
  afterEach(async () => {
    slack.botToken = SLACK_BOT_TOKEN;
    slack.appToken = SLACK_APP_TOKEN;
    await gateway.b.patch('/config', { 'channels_config.slack.token': null });
    await gateway.b.post('/channels/slack/restart');
    await untilChannel(gateway, 'slack', 'connected');
  });

  async function untilRefused(reason: string, withinMs = 20_000): Promise<void> {
    const refused = await promptly(withinMs, () => untilChannel(gateway, 'slack', 'disconnected'));
    expect(refused.error).toBe(`Slack refuses the credentials: ${reason}`);
    expect(refused.connected_at).toBeUndefined();
  }

  test('by an event: disconnected within two seconds, stops calling, comes back with another token', async () => {
    slack.botToken = other;
    slack.tell({ type: 'tokens_revoked', tokens: { bot: [BOT] } });
    await untilRefused('token_revoked', 2000);
    const asked = slack.calls.length;
    await sleep(2500);
    expect(slack.calls.slice(asked)).toEqual([]);
    expect(slack.sockets.count).toBe(0);
    expect((await gateway.a.post('/channels/slack/test')).body).toMatchObject({ success: false });
    await setting('token', other);
  });

  test('by the end of the connection: the app token', async () => {
    slack.appToken = 'xapp-1-anotherCanary';
    slack.sockets.cut();
    await untilRefused('token_revoked');
  });

  test('by a refused reply, which is sent once the token is accepted', async () => {
    slack.refusal = 'account_inactive';
    provider.script((response, request) => {
      slack.botToken = other;
      return echo()(response, request);
    });
    await slack.write('still there?', { channel: direct });
    await eventually(() => expect(slack.callsOf('chat.postMessage').length).toBeGreaterThan(0));
    await untilRefused('account_inactive');
    slack.refusal = 'token_revoked';
    slack.botToken = SLACK_BOT_TOKEN;
    await gateway.b.post('/channels/slack/restart');
    await slack.untilSaid(1, direct);
    expect(textsOf(direct)).toEqual(['You said: still there?']);
  });

  test('a token that is not a bot token is named', async () => {
    slack.next('auth.test', { ok: true, team_id: 'T1', user_id: 'U1' });
    slack.sockets.cut();
    await eventually(async () => {
      const { error } = await channelB(gateway, 'slack');
      expect(error).toBe('the token is valid but not a bot token (xoxb-)');
    });
  });

  test('a missing scope is named', async () => {
    slack.next('users.conversations', { ok: false, error: 'missing_scope', needed: 'im:read' });
    slack.sockets.cut();
    await untilRefused('missing_scope (im:read)');
  });
});

test('no log line, response or row contains a token or the ticket of a connection', async () => {
  const config = await gateway.b.get('/config');
  const channels = await gateway.b.get('/channels');
  const logs = await gateway.b.get('/logs?level=trace&limit=500&since=1h');
  const rows = await gateway.database.query<{ all: string }>(
    `SELECT (SELECT string_agg(s::text, '') FROM channel_states s) || (SELECT string_agg(r::text, '') FROM channel_replies r)
       || coalesce((SELECT string_agg(o::text, '') FROM config_overrides o), '') AS all`,
  );
  const everything = [config.text, channels.text, logs.text, rows[0]?.all, gateway.logLines.join('\n')].join(
    '\n',
  );
  expect(everything).not.toMatch(/canaryToken|anotherCanary|canary-ticket|ticket=/);
});
