import { setTimeout as sleep } from 'node:timers/promises';
import { channelB, echo, untilChannel } from '../harness/channels.js';
import { createTestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { ANSWERS_503, type Posting, type TeamsFailure, TestTeams, teamsEnv } from '../harness/teams.js';
import { saysOnEveryWire } from '../harness/three-models.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(180_000);

/** Longer than the receiver's lease. */
const DATABASE_AWAY_MS = 7000;

/** A gateway with its own Teams, its own model, and a database that can be disconnected. */
interface Stage {
  readonly teams: TestTeams;
  readonly provider: ScriptedProvider;
  readonly relay: FaultProxy;
  readonly gateway: TestGateway;
  write(text: string, posting?: Posting): Promise<number>;
  textsOf(conversation: string): string[];
  close(): Promise<void>;
}

async function openStage(
  more: Readonly<Record<string, string>> = {},
  before: (teams: TestTeams) => unknown = () => undefined,
): Promise<Stage> {
  const [teams, provider, database] = await Promise.all([
    TestTeams.start(),
    startScriptedProvider(),
    createTestDatabase(),
  ]);
  before(teams);
  provider.script(echo());
  const relay = await FaultProxy.to(database.url);
  const gateway = await startTestGateway({
    database: { ...database, url: relay.url },
    env: { ...teamsEnv(teams, { stream_interval_ms: '0', ...more }), ...providerEnv(provider) },
  });
  return {
    ...{ teams, provider, relay, gateway },
    write: (text, posting) => teams.write(`http://127.0.0.1:${gateway.started.ports.b}`, text, posting),
    textsOf: (conversation) => teams.said(conversation).map(({ text }) => text),
    close: async () => {
      await gateway.stop();
      await relay.cut();
      await Promise.all([teams.stop(), provider.stop(), database.drop()]);
    },
  };
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `message ${n}`);
const answers = (texts: readonly string[]): string[] => texts.map((text) => `You said: ${text}`);
const UNAVAILABLE = 503;

describe('when Microsoft cannot be reached', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
    await untilChannel(stage.gateway, 'teams', 'connected');
  });
  afterAll(() => stage.close());

  test('messages are accepted with the keys that are known, and answered afterwards, once and in order', async () => {
    const { teams, write, textsOf } = stage;
    expect(await write('before', { conversation: 'a:away' })).toBe(200);
    await teams.untilSaid(1, 'a:away');
    await teams.goAway();
    for (const text of numbered(20)) expect(await write(text, { conversation: 'a:away' })).toBe(200);
    await sleep(2000);
    await teams.comeBack();
    await teams.untilSaid(21, 'a:away', 60_000);
    expect(textsOf('a:away')).toEqual(answers(['before', ...numbered(20)]));
  });

  test.each<[string, TeamsFailure, string]>([
    ['is away', ANSWERS_503, 'The sign-in of Microsoft answered 503'],
    ['does not answer', 'its answer hangs', 'The sign-in of Microsoft cannot be reached: timeout'],
    ['breaks off', (response) => response.destroy(), 'The sign-in of Microsoft cannot be reached: '],
  ])(
    'while the sign-in %s the state says so; the answer waits for a token, and arrives once',
    async (what, failure, said) => {
      const { teams, gateway, write, textsOf } = stage;
      const conversation = `a:token ${what}`;
      teams.out.set('token', failure);
      await gateway.b.post('/channels/teams/restart');
      await eventually(async () => {
        const { status, error } = await channelB(gateway, 'teams');
        expect([status, error]).toEqual(['reconnecting', expect.stringContaining(said)]);
      });
      expect(await write('anyone?', { conversation })).toBe(200);
      await sleep(500);
      expect(textsOf(conversation)).toEqual([]);
      teams.out.clear();
      await teams.untilSaid(1, conversation, 60_000);
      expect(textsOf(conversation)).toEqual(answers(['anyone?']));
      await untilChannel(gateway, 'teams', 'connected');
    },
  );

  test('a token that ran out while the sign-in is away costs no answer', async () => {
    const { teams, write, textsOf } = stage;
    teams.tokens.clear();
    teams.out.set('token', ANSWERS_503);
    expect(await write('still there?', { conversation: 'a:expired' })).toBe(200);
    await eventually(() => expect(teams.callsOf('token').length).toBeGreaterThan(0));
    await sleep(500);
    expect(textsOf('a:expired')).toEqual([]);
    teams.out.clear();
    await teams.untilSaid(1, 'a:expired', 60_000);
    expect(textsOf('a:expired')).toEqual(answers(['still there?']));
  });

  test('keys that the connector changed are fetched at once; while they cannot be fetched the known ones are good', async () => {
    const { teams, write, textsOf } = stage;
    await teams.rotateKeys('newer');
    expect(await write('signed anew', { conversation: 'a:keys' })).toBe(200);
    // A token signed with a key that is no longer published is refused, even if it was valid before.
    expect(await write('signed of old', { conversation: 'a:keys', kid: 'teams' })).toBe(401);
    teams.out.set('openid', ANSWERS_503);
    expect(await write('and on', { conversation: 'a:keys' })).toBe(200);
    teams.out.clear();
    await teams.untilSaid(2, 'a:keys');
    expect(textsOf('a:keys')).toEqual(answers(['signed anew', 'and on']));
  });
});

test("without the connector's keys nothing is accepted, and the state of the channel says why", async () => {
  const stage = await openStage({}, (teams) => teams.out.set('keys', ANSWERS_503));
  const { teams, gateway, write, textsOf } = stage;
  try {
    expect(await write('too early', { conversation: 'a:early' })).toBe(UNAVAILABLE);
    await eventually(async () => {
      const { error } = await untilChannel(gateway, 'teams', 'reconnecting');
      expect(error).toBe(
        "the keys of Microsoft's connector cannot be fetched, so no message can be verified",
      );
    });
    expect(await gateway.database.query('SELECT 1 FROM channel_messages')).toEqual([]);
    teams.out.clear();
    await untilChannel(gateway, 'teams', 'connected', 60_000);
    expect(await write('in time', { conversation: 'a:early' })).toBe(200);
    await teams.untilSaid(1, 'a:early');
    expect(textsOf('a:early')).toEqual(answers(['in time']));
  } finally {
    await stage.close();
  }
});

test('while the database is away no message is accepted; what was accepted before is answered, once and in order', async () => {
  const stage = await openStage();
  const { teams, relay, gateway, write, textsOf, provider } = stage;
  try {
    await untilChannel(gateway, 'teams', 'connected');
    const held = heldAnswer();
    provider.script(held.script, echo());
    for (const text of ['before', ...numbered(3)])
      expect(await write(text, { conversation: 'a:db' })).toBe(200);
    await eventually(() => expect(provider.requests).toHaveLength(1));
    await relay.cut();
    expect(await write('meanwhile', { conversation: 'a:db' })).toBe(UNAVAILABLE);
    await sleep(DATABASE_AWAY_MS);
    expect(textsOf('a:db')).toEqual([]);
    await relay.mend();
    held.say('You said: before');
    held.finish();
    await eventually(
      async () => expect(await write('afterwards', { conversation: 'a:db' })).toBe(200),
      20_000,
    );
    await teams.untilSaid(5, 'a:db', 60_000);
    expect(textsOf('a:db')).toEqual(answers(['before', ...numbered(3), 'afterwards']));
    await untilChannel(gateway, 'teams', 'connected');
  } finally {
    await stage.close();
  }
});

describe('when Teams does not take what is sent', () => {
  let stage: Stage;
  let count = 0;
  beforeAll(async () => {
    stage = await openStage({ stream_interval_ms: '100', request_timeout_ms: '3000' });
    await untilChannel(stage.gateway, 'teams', 'connected');
  });
  afterAll(() => stage.close());
  beforeEach(() => stage.provider.script(echo()));
  const next = (): string => `a:refused-${++count}`;

  /** Waits for an answer whose draft is shown. */
  async function drafted(conversation: string) {
    const { provider, write, textsOf } = stage;
    const held = heldAnswer();
    const asked = provider.requests.length;
    provider.script(held.script);
    expect(await write('Take your time', { conversation })).toBe(200);
    await eventually(() => expect(provider.requests.length).toBe(asked + 1));
    held.say('This is the beginning of an answer that takes a while');
    await eventually(() => expect(textsOf(conversation)[0]).toContain('takes a while …'));
    return held;
  }
  const editsOf = (conversation: string): number =>
    stage.teams.callsOf('edit').filter(({ path }) => path.includes(encodeURIComponent(conversation))).length;
  const WHOLE = 'This is the beginning of an answer that takes a while and goes on';

  test.each([
    [
      '429',
      'that Teams wants to wait',
      (teams: TestTeams) =>
        teams.next('edit', (response) => response.writeHead(429, { 'retry-after': '1' }).end('{}')),
    ],
    [
      '500',
      'that may have been made',
      (teams: TestTeams) => teams.next('edit', (response) => response.writeHead(500).end()),
    ],
    ['a lost answer', 'that was made', (teams: TestTeams) => teams.next('edit', 'its answer is lost')],
    ['no answer', 'that may have been made', (teams: TestTeams) => teams.next('edit', 'its answer hangs')],
  ])('%s: an edit %s is made again, and the answer stands there once', async (_what, _why, fail) => {
    const conversation = next();
    const held = await drafted(conversation);
    const before = editsOf(conversation);
    fail(stage.teams);
    held.say(' and goes on');
    held.finish();
    await eventually(() => expect(editsOf(conversation)).toBe(before + 2), 30_000);
    await eventually(() => expect(stage.textsOf(conversation)).toEqual([WHOLE]), 30_000);
  });

  test('an edit of a message that is gone becomes a message of its own', async () => {
    const conversation = next();
    const held = await drafted(conversation);
    // The draft was deleted: each further edit is refused.
    for (let n = 0; n < 2; n++) stage.teams.next('edit', (response) => response.writeHead(404).end('{}'));
    const before = editsOf(conversation);
    held.say(' and goes on');
    await eventually(() => expect(editsOf(conversation)).toBe(before + 1));
    held.finish();
    await eventually(() => expect(stage.textsOf(conversation).at(-1)).toBe(WHOLE), 30_000);
    expect(stage.textsOf(conversation).filter((text) => text === WHOLE)).toHaveLength(1);
  });

  test('a typing sign that Teams refuses does no harm', async () => {
    const conversation = next();
    stage.teams.out.set('typing', ANSWERS_503);
    expect(await stage.write('type', { conversation })).toBe(200);
    await stage.teams.untilSaid(1, conversation);
    stage.teams.out.clear();
    expect(stage.textsOf(conversation)).toEqual(answers(['type']));
  });

  test('a long answer arrives complete and in order, in parts that Teams takes', async () => {
    const conversation = next();
    const words = Array.from({ length: 3000 }, (_, n) => `word${n}😀`).join(' ');
    stage.provider.script(saysOnEveryWire(words));
    expect(await stage.write('Tell me a lot', { conversation })).toBe(200);
    await eventually(() => expect(stage.textsOf(conversation).join(' ') === words).toBe(true), 30_000);
    expect(stage.textsOf(conversation).length).toBeGreaterThan(2);
  });

  test('an answer whose form would make it too long for Teams goes as plain text', async () => {
    const conversation = next();
    const letters = '<b>&x '.repeat(1300).trim();
    stage.provider.script(saysOnEveryWire(letters));
    expect(await stage.write('Tell me in HTML', { conversation })).toBe(200);
    await eventually(() => expect(stage.textsOf(conversation).join('') === letters).toBe(true), 30_000);
    const sizes = stage.teams
      .callsOf('send')
      .map(({ body }) => Buffer.byteLength(JSON.stringify(body), 'utf16le'));
    expect(Math.max(...sizes)).toBeLessThan(40 * 1024);
  });

  test('one that Teams finds too long all the same goes once more as plain text', async () => {
    const conversation = next();
    stage.teams.next('send', (response) =>
      response.writeHead(413).end('{"error":{"code":"MessageSizeTooBig"}}'),
    );
    expect(await stage.write('a **bold** word', { conversation })).toBe(200);
    await stage.teams.untilSaid(1, conversation);
    expect(stage.textsOf(conversation)).toEqual(answers(['a bold word']));
    expect(stage.teams.callsOf('send').at(-1)?.body['textFormat']).toBe('plain');
  });
});
