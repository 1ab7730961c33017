import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { slackApi } from './slack-client.js';
import { SlackPeople } from './slack-inbox.js';

const ok = (user: object): ScriptedAnswer => ({ body: { ok: true, user } });

function people(...answers: ScriptedAnswer[]) {
  const { outbound, calls } = answeringOutbound(...answers);
  const access = { token: 'xoxb-1', apiUrl: '', timeoutMs: 1000 };
  const api = slackApi(outbound, access, new AbortController().signal);
  const known = new SlackPeople();
  return { nameOf: (user: string) => known.nameOf(user, api), calls };
}

afterEach(() => jest.useRealTimers());

test.each([
  [{ profile: { display_name: 'ada' }, real_name: 'Ada Lovelace', name: 'alovelace' }, 'ada'],
  [{ profile: { display_name: '' }, real_name: 'Ada Lovelace', name: 'alovelace' }, 'Ada Lovelace'],
  [{ name: 'alovelace' }, 'alovelace'],
  [{}, 'U1'],
])('%j is called %s', async (user, name) => {
  expect(await people(ok(user)).nameOf('U1')).toBe(name);
});

test('a name is looked up once an hour', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'setTimeout'] });
  const { nameOf, calls } = people(ok({ name: 'ada' }), ok({ name: 'augusta' }));
  expect([await nameOf('U1'), await nameOf('U1'), calls.length]).toEqual(['ada', 'ada', 1]);
  jest.setSystemTime(Date.now() + 3_600_001);
  expect(await nameOf('U1')).toBe('augusta');
});

test('a user who cannot be looked up is called by the id, and is looked up again after a minute', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'setTimeout'] });
  const { nameOf, calls } = people({ body: { ok: false, error: 'missing_scope' } }, ok({ name: 'ada' }));
  expect([await nameOf('U1'), await nameOf('U1'), calls.length]).toEqual(['U1', 'U1', 1]);
  jest.setSystemTime(Date.now() + 60_001);
  expect(await nameOf('U1')).toBe('ada');
});
