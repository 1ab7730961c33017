import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { OutboundFailed } from '../../../../platform/outbound/outbound.errors.js';
import { Environment } from '../../../../platform/settings/environment.js';
import type { AdapterParts } from '../../channel-adapter.port.js';
import { TelegramAdapter } from './telegram.adapter.js';

const { signal } = new AbortController();
const reply = (target: object) => ({ target: { chat: 5, ...target }, text: 'hello', key: 'k' });
const refusal = (code: number, description: string): ScriptedAnswer => ({
  status: code,
  body: { ok: false, error_code: code, description },
});

function adapter(...answers: ScriptedAnswer[]) {
  const { outbound, calls } = answeringOutbound(...answers);
  const settings = {
    token: '1:t',
    token_env: '',
    api_url: '',
    request_timeout_ms: 1000,
    poll_timeout_secs: 1,
  };
  const parts = { name: 'tg', environment: new Environment({}), outbound, settings };
  const bodies = () => calls.map(({ body }) => JSON.parse(String(body)) as unknown);
  return { made: new TelegramAdapter(parts as unknown as AdapterParts), bodies };
}

test('an answer goes to its chat, or to the topic of its question', async () => {
  const { made, bodies } = adapter({ body: { ok: true, result: { message_id: 8 } } });
  expect(await made.send(reply({}), signal)).toBe('8');
  await made.send(reply({ thread: 3 }), signal);
  expect(bodies()).toEqual([
    { chat_id: 5, text: 'hello' },
    { chat_id: 5, text: 'hello', message_thread_id: 3 },
  ]);
});

test('an edit that changes nothing counts as done', async () => {
  const { made } = adapter(refusal(400, 'Bad Request: message is not modified: exactly the same'));
  await expect(made.edit('8', reply({}), signal)).resolves.toBeUndefined();
});

test.each<[ScriptedAnswer, string]>([
  [refusal(400, 'Bad Request: message to edit not found'), 'rejected'],
  [refusal(401, 'Unauthorized'), 'retry'],
  // An edit may safely be repeated.
  [new OutboundFailed('connection_reset'), 'retry'],
])('an edit that meets %j ends as: %s', async (answer, why) => {
  await expect(adapter(answer).made.edit('8', reply({}), signal)).rejects.toMatchObject({ why });
});

test('a refused token is reported by receive and by check', async () => {
  const refused = { name: 'ChannelRefused' };
  await expect(adapter(refusal(401, 'Unauthorized')).made.check(signal)).rejects.toMatchObject(refused);
  await expect(adapter(refusal(401, 'Unauthorized')).made.typing({ chat: 5 }, signal)).rejects.toMatchObject(
    refused,
  );
});
