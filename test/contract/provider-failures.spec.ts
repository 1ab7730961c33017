import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { expectError } from './support/envelope.js';
import { newSession, PROFILES } from './support/faces.js';

let gateway: TestGateway;
let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await startScriptedProvider();
  gateway = await startTestGateway({
    env: {
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__BASE_URL: `${provider.url}/v1`,
      GATEWAY__PROVIDER__MAX_RETRIES: '0',
      GATEWAY__AGENT__FIRST_BYTE_TIMEOUT_MS: '1000',
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const failing = (): void => provider.script((response) => void response.writeHead(500).end('{}'));
const silent = (): void => provider.script(() => undefined);

describe.each(PROFILES)('Errors | provider failed / timed out | Profile %s', (profile) => {
  test.each([
    ['failed', 502, failing, 'provider_error'],
    ['timed out', 504, silent, 'provider_first_byte_timeout'],
  ] as const)(
    '%s | %i internal_error with the cause; the message is kept, the turn is failed',
    async (_what, expected, fail, reason) => {
      fail();
      const id = await newSession(gateway[profile]);
      const answer = await gateway[profile].post(`/sessions/${id}/messages`, { content: 'Are you there?' });
      expectError(profile, answer, expected, 'internal_error');
      const { error } = answer.body as { error: { message: string; details?: { reason: string } } };
      if (profile === 'b') expect(error.details?.reason).toBe(reason);
      expect(error.message).toMatch(expected === 504 ? /within 1 s/ : /500/);
      const turns = await gateway.database.query(`SELECT status, reason FROM turns WHERE session_id = $1`, [
        id,
      ]);
      expect(turns).toEqual([{ status: 'failed', reason }]);
      const history = await gateway[profile].get(`/sessions/${id}/messages`);
      expect(history.body).toMatchObject({ messages: [{ role: 'user', content: 'Are you there?' }] });
    },
  );
});
