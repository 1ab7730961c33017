import { echo } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, newSession, providerEnv } from '../harness/turn-stream.js';

interface Item {
  message_id: string;
  role: string;
  content: string;
  incomplete?: string;
}

let provider: ScriptedProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startScriptedProvider();
  gateway = await startTestGateway({ env: providerEnv(provider) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

test.each(['a', 'b'] as const)(
  'Profile %s: Prefer: respond-async answers 202 with where to look',
  async (profile) => {
    const answer = heldAnswer();
    provider.script(answer.script);
    answer.say('Later');
    const id = await newSession(gateway);
    const sent = await gateway[profile].post<{ message_id: string }>(
      `/sessions/${id}/messages`,
      { content: 'Take your time' },
      { prefer: 'wait=5, respond-async' },
    );
    expect(sent.status).toBe(202);
    expect(sent.headers.get('preference-applied')).toBe('respond-async');
    const location = sent.headers.get('location') ?? '';
    const poll = async () => {
      const url = new URL(location, gateway[profile].base);
      const response = await fetch(url, { headers: { authorization: `Bearer ${gateway.token}` } });
      return ((await response.json()) as { messages: Item[] }).messages;
    };
    expect((await poll()).map(({ message_id }) => message_id)).toEqual([sent.body.message_id]);
    answer.finish();
    await eventually(async () =>
      expect((await poll()).at(-1)).toMatchObject({ role: 'assistant', content: 'Later' }),
    );
  },
);

test('messages that still wait when their session ends stay in the history in the order of arrival, whoever sent them', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  const id = await newSession(gateway);
  const other = gateway.caller('b', await gateway.mint({ name: 'another writer' }));
  const sent = ['runs', 'first', 'second', 'third'];
  for (const [n, content] of sent.entries()) {
    const { status } = await (n === 3 ? other : gateway.b).post(
      `/sessions/${id}/messages`,
      { content },
      { prefer: 'respond-async' },
    );
    expect(status).toBe(202);
  }
  expect((await gateway.b.delete(`/sessions/${id}`)).status).toBe(204);
  await eventually(async () => {
    const { body } = await gateway.b.get<{ messages: Item[] }>(`/sessions/${id}/messages`);
    const said = body.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(said).toEqual(sent);
  });
  answer.finish();
});

test('what is refused is refused at once, not accepted', async () => {
  const missing = await gateway.a.post(
    '/sessions/sess_nothing/messages',
    { content: 'Hi' },
    { prefer: 'respond-async' },
  );
  expect(missing.status).toBe(404);
});

test('without agent.resume, an accepted turn that the stop of its gateway interrupts says so in the history', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  const env = {
    ...providerEnv(provider),
    GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '100',
    GATEWAY__AGENT__RESUME: 'false',
  };
  const other = await startTestGateway({ database: gateway.database, env });
  const id = await newSession(gateway);
  const { status } = await other.a.post(
    `/sessions/${id}/messages`,
    { content: 'Hi' },
    { prefer: 'respond-async' },
  );
  expect(status).toBe(202);
  await other.stop();
  const { body } = await gateway.a.get<{ messages: Item[] }>(`/sessions/${id}/messages`);
  expect(body.messages[1]).toMatchObject({ role: 'assistant', incomplete: 'interrupted' });
  expect(body.messages[1]?.content).toContain('interrupted');
});

test('a turn whose replica died is answered by another, once its lease has run out', async () => {
  const answer = heldAnswer();
  provider.script(answer.script, echo());
  const id = await newSession(gateway);
  const sent = gateway.b.post(`/sessions/${id}/messages`, { content: 'Hi' });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  await gateway.database.query(
    `UPDATE sessions SET turn_owner = 'gone', turn_lease_until = now() - interval '1 second' WHERE id = $1`,
    [id],
  );
  await eventually(async () => {
    const { body } = await gateway.a.get<{ messages: Item[] }>(`/sessions/${id}/messages`);
    expect(body.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Hi'],
      ['assistant', 'You said: Hi'],
    ]);
  });
  answer.finish();
  expect((await sent).status).toBe(503);
});
