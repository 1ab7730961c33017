import {
  idIn,
  PROFILE_DIFFERENCES,
  PROFILES,
  type SessionListWire,
  type Wire,
} from '../contract/support/faces.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { PAYLOADS } from './support/payloads.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__PROVIDER__KIND: 'offline' } });
});
afterEach(() => {
  expect(gateway.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
afterAll(() => gateway.stop());

/** Fields that accept any text. */
const FREE_TEXT = {
  // In a model, the part before a slash is its provider.
  a: (text: string) => ({ user_id: text, system_prompt: text, model: `default/${text}` }),
  b: (text: string) => ({ user_id: text, metadata: { text, [text]: { [text]: [text] } } }),
};

test.each(PAYLOADS)(
  '%j is text to both profiles: kept and given back to the letter, and nobody acts on it',
  async (text) => {
    for (const profile of PROFILES) {
      const sent = FREE_TEXT[profile](text);
      const caller = gateway[profile];
      const created = await caller.post<Wire>('/sessions', sent);
      expect(created.status).toBe(201);
      const { body } = await gateway.b.get<Wire>(`/sessions/${idIn(created.body)}`);
      expect(body['user_id']).toBe(text);
      if ('metadata' in sent) expect(JSON.stringify(body['metadata'])).toBe(JSON.stringify(sent.metadata));
      if ('model' in sent)
        expect((await gateway.a.get<Wire>(`/sessions/${idIn(created.body)}`)).body['model']).toBe(sent.model);
    }
  },
);

test('a filter takes each of them as text, and finds nothing', async () => {
  for (const text of PAYLOADS) {
    const answer = await gateway.b.get<SessionListWire>(`/sessions?channel=${encodeURIComponent(text)}`);
    if (answer.status === 200) expect([text, answer.body.total]).toEqual([text, 0]);
    else expect([text, answer.status]).toEqual([text, 400]);
  }
});

test('a message made of them comes back as it was said, and the history as it was', async () => {
  for (const profile of PROFILES) {
    const id = idIn((await gateway[profile].post<Wire>('/sessions', {})).body);
    const content = PAYLOADS.join('\n');
    expect((await gateway[profile].post(`/sessions/${id}/messages`, { content })).status).toBe(200);
    const { body } = await gateway[profile].get<{ messages: Wire[] }>(`/sessions/${id}/messages`);
    expect(body.messages[0]?.['content']).toBe(content);
  }
});

test('the gateway is as healthy as before, and has exactly the sessions that were made here', async () => {
  for (const profile of PROFILES)
    expect((await gateway[profile].get(PROFILE_DIFFERENCES[profile].health)).status).toBe(200);
  expect(({} as Wire)['isAdmin']).toBeUndefined();
  const { body } = await gateway.b.get<SessionListWire>('/sessions?limit=1');
  expect(body.total).toBe(2 * PAYLOADS.length + PROFILES.length);
});
