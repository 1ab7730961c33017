import type { ProfileId } from '../../src/http/profiles/profile.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { Answer } from '../harness/http-caller.js';
import { expectCommonHeaders, expectError } from './support/envelope.js';
import { newSession, PROFILES } from './support/faces.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__RATE_LIMITS__CONFIG_WRITE: '1' } });
});
afterAll(() => gateway.stop());

type Provoke = (profile: ProfileId) => Promise<readonly Answer[]>;

const invalid: Provoke = async (profile) => [
  await gateway[profile].get('/sessions?limit=x'),
  await gateway[profile].post('/sessions', { channel: 1 }),
];

const stranger: Provoke = async (profile) => [
  await gateway.caller(profile, undefined).get('/sessions'),
  await gateway.caller(profile, 'agw_nobody').get('/sessions'),
];

const reader: Provoke = async (profile) => {
  const token = await gateway.mint({ scopes: ['sessions:read'] });
  return [await gateway.caller(profile, token).post('/sessions', {})];
};

const missing: Provoke = async (profile) => [
  await gateway[profile].get('/sessions/sess_nobody'),
  await gateway[profile].delete('/hooks/hook_nobody'),
];

const deletedTwice: Provoke = async (profile) => {
  const id = await newSession(gateway[profile]);
  expect((await gateway[profile].delete(`/sessions/${id}`)).status).toBe(204);
  return [await gateway[profile].delete(`/sessions/${id}`)];
};

/** Sends many at once: the limit of one a second lets through only a few. */
const manyAtOnce: Provoke = async (profile) => {
  const caller = gateway[profile];
  const send = () => (profile === 'a' ? caller.post('/config/reload') : caller.patch('/config', {}));
  const answers = await Promise.all(Array.from({ length: 10 }, send));
  return answers.filter(({ status }) => status !== 200);
};

/** Removes a table, which no code expects. */
const brokenDatabase: Provoke = async (profile) => {
  await gateway.database.query('ALTER TABLE hooks RENAME TO hooks_elsewhere');
  const answer = await gateway[profile].get('/hooks');
  await gateway.database.query('ALTER TABLE hooks_elsewhere RENAME TO hooks');
  return [answer];
};

describe.each(PROFILES)('Profile %s', (profile) => {
  test.each([
    ['7 | 400 | bad_request | invalid request parameters or body', 400, 'bad_request', invalid],
    ['7 | 401 | unauthorized | missing or invalid bearer token', 401, 'unauthorized', stranger],
    ['7 | 403 | forbidden | token lacks required permissions', 403, 'forbidden', reader],
    ['7 | 404 | not_found | resource does not exist', 404, 'not_found', missing],
    [
      '7 | 409 | conflict | resource state conflict, for example session already terminated',
      409,
      'conflict',
      deletedTwice,
    ],
    ['7 | 429 | rate_limited | too many requests', 429, 'rate_limited', manyAtOnce],
    ['7 | 500 | internal_error | unexpected server error', 500, 'internal_error', brokenDatabase],
  ] as const)('%s', async (_row, status, code, provoke) => {
    const answers = await provoke(profile);
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers) {
      const { message } = expectError(profile, answer, status, code);
      expect(message).not.toBe('');
      expectCommonHeaders(answer);
    }
  });

  test('an unexpected error says nothing of its cause, and the log says it', async () => {
    const [answer] = await brokenDatabase(profile);
    expect(answer?.text).not.toMatch(/hooks|relation/);
    expect(gateway.logLines.join('')).toContain('relation \\"hooks\\" does not exist');
  });
});
