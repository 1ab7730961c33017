import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';

let gateway: TestGateway;
let receiver: HookReceiver;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  gateway = await startTestGateway({
    env: {
      GATEWAY__AGENT__SESSION_IDLE_SECS: '1',
      GATEWAY__AGENT__SESSION_TIMEOUT_SECS: '3',
      GATEWAY__HOOKS__INCLUDE_CONTENT: 'true',
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__API_KEY: 'sk-not-a-real-key-at-all',
      GATEWAY__PROVIDER__BASE_URL: 'http://127.0.0.1:4/v1',
      GATEWAY__PROVIDER__MAX_RETRIES: '0',
    },
  });
  await gateway.a.post('/hooks', { url: receiver.url(), events: ['*'] });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

test('silence, a failed turn and the text of messages are reported', async () => {
  const { body } = await gateway.a.post<{ session_id: string }>('/sessions', {});
  const id = body.session_id;
  const answer = await gateway.a.post(`/sessions/${id}/messages`, { content: 'Are you there?' });
  expect(answer.status).toBe(502);
  await eventually(() => expect(receiver.bodies().at(-1)?.event).toBe('session.terminated'));
  const told = receiver.bodies();
  expect(told.map(({ event }) => event)).toEqual([
    'session.created',
    'message.received',
    'error.occurred',
    'session.idle',
    'session.terminated',
  ]);
  expect(told[1]?.data.content).toBe('Are you there?');
  expect(told[2]?.data).toEqual({
    source: 'turn',
    reason: expect.stringMatching(/^provider_/) as unknown,
    session_id: id,
    turn_id: told[1]?.data.turn_id,
  });
  expect(told[3]?.data).toEqual({ session_id: id, channel: 'api', user_id: 'test' });
  expect(told[4]?.data.reason).toBe('timeout');
});
