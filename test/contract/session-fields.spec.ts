import type { ProfileId } from '../../src/http/profiles/profile.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { answerWith, wires } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { expectError } from './support/envelope.js';
import { ISO_UTC, idIn, newSession, type SessionListWire, say, type Wire } from './support/faces.js';

/** The responses that show a session: to POST, in a list, to GET. */
const PLACES = ['create', 'list', 'detail'] as const;
type Place = (typeof PLACES)[number];
type Shown = Record<Place, Wire>;

const SIGNALS = {
  a: { channel: 'api', user_id: 'ada', system_prompt: 'Answer in rhymes.', model: 'rhymer-1' },
  b: { channel: 'api', user_id: 'ada', metadata: { team: 'blue', tags: [1, { deep: null }] } },
} as const satisfies Record<ProfileId, Wire>;

const anId = expect.stringMatching(/^sess_[0-9a-z]{26}$/) as unknown;
const aTime = expect.stringMatching(ISO_UTC) as unknown;

let provider: ScriptedProvider;
let gateway: TestGateway;
/** The same session of each profile in all three responses, after a turn of 3 and 2 tokens. */
const shown: Partial<Record<ProfileId, Shown>> = {};

beforeAll(async () => {
  provider = await startScriptedProvider();
  provider.script(answerWith(wires[0]!, 'Yes.'));
  gateway = await startTestGateway({
    env: {
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__BASE_URL: `${provider.url}/v1`,
      GATEWAY__PROVIDER__MODEL: 'plain-1',
      GATEWAY__AGENT__SYSTEM_PROMPT: 'Be plain.',
    },
  });
  for (const profile of ['a', 'b'] as const) shown[profile] = await shownIn(profile);
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

async function shownIn(profile: ProfileId): Promise<Shown> {
  const { body: create } = await gateway[profile].post<Wire>('/sessions', SIGNALS[profile]);
  expect((await say(gateway[profile], idIn(create), 'Are you there?')).status).toBe(200);
  const { body: detail } = await gateway[profile].get<Wire>(`/sessions/${idIn(create)}`);
  const { body } = await gateway[profile].get<SessionListWire>('/sessions?limit=1');
  return { create, detail, list: body.sessions[0]! };
}

/** Checks a field in the responses that contain it. The others must not have it. */
function expectField(profile: ProfileId, field: string, places: readonly Place[], value: unknown): void {
  for (const place of PLACES) {
    const body = shown[profile]?.[place];
    expect(body).toBeDefined();
    const told = Object.hasOwn(body!, field) ? { [field]: body![field] } : {};
    expect([place, told]).toEqual([place, places.includes(place) ? { [field]: value } : {}]);
  }
}

describe('Profile A', () => {
  test.each<[row: string, field: string, places: readonly Place[], value: unknown]>([
    ['2.1 | session_id | String | create, list, detail', 'session_id', PLACES, anId],
    ['2.1 | created_at | timestamp | create, list, detail', 'created_at', PLACES, aTime],
    ['2.1 | channel | String | create, list, detail', 'channel', PLACES, 'api'],
    ['2.1 | status | String | create, list, detail', 'status', PLACES, 'active'],
    ['2.1 | message_count | integer | list, detail', 'message_count', ['list', 'detail'], 2],
    ['2.1 | model | String | detail', 'model', ['detail'], 'rhymer-1'],
    ['2.1 | total_tokens | integer | detail', 'total_tokens', ['detail'], 5],
  ])('%s', (_row, field, places, value) => expectField('a', field, places, value));
});

describe('Profile B', () => {
  test.each<[row: string, field: string, places: readonly Place[], value: unknown]>([
    ['2.1 | id | String | create, list, detail', 'id', PLACES, anId],
    ['2.1 | channel | String | all', 'channel', PLACES, 'api'],
    ['2.1 | user_id | String | all', 'user_id', PLACES, 'ada'],
    ['2.1 | status | String | all', 'status', PLACES, 'active'],
    ['2.1 | created_at | timestamp | all', 'created_at', PLACES, aTime],
    [
      '2.1 | metadata | object (free-form key/value) | create, detail',
      'metadata',
      ['create', 'detail'],
      SIGNALS.b.metadata,
    ],
    ['2.1 | last_activity | timestamp | list, detail', 'last_activity', ['list', 'detail'], aTime],
    ['2.1 | turn_count | integer | detail', 'turn_count', ['detail'], 1],
    [
      '2.1 | token_usage | object with `input` (integer) and `output` (integer) | detail',
      'token_usage',
      ['detail'],
      { input: 3, output: 2 },
    ],
  ])('%s', (_row, field, places, value) => expectField('b', field, places, value));
});

describe('what POST /sessions takes in Profile A', () => {
  /** What the model is sent for a message in a session that was created with these options. */
  async function asked(wish: Wire): Promise<{ system: unknown; model: unknown }> {
    await say(gateway.a, await newSession(gateway.a, wish), 'Hello');
    const { messages, model } = provider.requests.at(-1)!.body as { messages: Wire[]; model: unknown };
    const first = messages[0]?.['role'] === 'system' ? messages[0]['content'] : undefined;
    return { system: first, model };
  }

  test('2.1 | channel | String | channel identifier; default `api`', async () => {
    for (const wish of [{}, { channel: 'api' }])
      expect((await gateway.a.post<Wire>('/sessions', wish)).body['channel']).toBe('api');
    expectError('a', await gateway.a.post('/sessions', { channel: 'pigeon' }), 400, 'bad_request');
    expectError('a', await gateway.a.post('/sessions', { channel: 1 }), 400, 'bad_request');
  });

  test('2.1 | user_id | String | user identifier', async () => {
    const id = await newSession(gateway.a, { user_id: 'grace' });
    expect((await gateway.b.get<Wire>(`/sessions/${id}`)).body['user_id']).toBe('grace');
    expectError('a', await gateway.a.post('/sessions', { user_id: 7 }), 400, 'bad_request');
  });

  test('2.1 | system_prompt | String | overrides the default system prompt', async () => {
    expect((await asked({})).system).toContain('Be plain.');
    const { system } = await asked({ system_prompt: 'Answer in rhymes.' });
    expect(system).toContain('Answer in rhymes.');
    expect(system).not.toContain('Be plain.');
    expectError('a', await gateway.a.post('/sessions', { system_prompt: 1 }), 400, 'bad_request');
  });

  test('2.1 | model | String | overrides the default model', async () => {
    expect((await asked({})).model).toBe('plain-1');
    expect((await asked({ model: 'rhymer-1' })).model).toBe('rhymer-1');
    const plain = await newSession(gateway.a);
    expect((await gateway.a.get<Wire>(`/sessions/${plain}`)).body['model']).toBe('plain-1');
    expectError('a', await gateway.a.post('/sessions', { model: 1 }), 400, 'bad_request');
  });
});
