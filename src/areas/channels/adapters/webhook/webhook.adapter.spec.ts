import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { OutboundFailed, OutboundRefused } from '../../../../platform/outbound/outbound.errors.js';
import { Environment } from '../../../../platform/settings/environment.js';
import type { ChannelSettings } from '../../../../platform/settings/sections/channels.section.js';
import type { AdapterParts } from '../../channel-adapter.port.js';
import { ChannelRefused } from '../../channel-failures.js';
import { WebhookAdapter } from './webhook.adapter.js';

const { signal } = new AbortController();
const REPLY = { target: { conversation: 'c', user: 'u', id: 'e1' }, text: 'hello', key: 'msg_1_1' };

function adapter(settings: Partial<ChannelSettings>, ...answers: ScriptedAnswer[]) {
  const { outbound, calls } = answeringOutbound(...answers);
  const whole = {
    secret: 'sixteen bytes long',
    secret_env: '',
    callback_url: 'https://me.test/',
    ...settings,
  };
  const parts = {
    ...{ name: 'hook', environment: new Environment({}), outbound },
    settings: { ...whole, request_timeout_ms: 1000 },
  };
  return { made: new WebhookAdapter(parts as unknown as AdapterParts), calls };
}

test.each([
  ['whsec_no base64 at all', 'the part of the secret after whsec_ is not base64'],
  ['short', 'the secret has fewer than 16 bytes'],
])('the secret "%s" is refused for good', (secret, why) => {
  expect(() => adapter({ secret })).toThrow(new ChannelRefused(why));
});

test('an answer is posted under its key, and signed', async () => {
  const { made, calls } = adapter({}, { status: 204, body: '' });
  await made.send(REPLY, signal);
  expect(calls[0]).toMatchObject({ url: 'https://me.test/', headers: { 'webhook-id': 'msg_1_1' } });
  expect(JSON.parse(String(calls[0]?.body))).toEqual({
    ...{ type: 'reply', conversation: 'c', user: 'u', in_reply_to: 'e1', content: 'hello' },
  });
});

test.each<[ScriptedAnswer, string, string]>([
  [{ status: 410, body: '' }, 'rejected', 'the callback answered 410'],
  [{ status: 500, body: '' }, 'retry', 'the callback answered 500'],
  [{ status: 302, body: '' }, 'retry', 'the callback answered 302'],
  [new OutboundFailed('connection_refused'), 'retry', 'the callback cannot be reached: connection refused'],
  [new OutboundRefused('address'), 'retry', 'the callback cannot be reached: must lead to a public address'],
])('a callback that responds %j ends as: %s', async (answer, why, message) => {
  const { made } = adapter({}, answer);
  const told = expect.stringContaining(message) as unknown;
  await expect(made.send(REPLY, signal)).rejects.toMatchObject({ name: 'NotSent', why, message: told });
});

test.each<[ScriptedAnswer, string]>([
  [{ status: 401, body: '' }, 'the callback answered 401'],
  [new OutboundFailed('timeout'), 'the callback cannot be reached: timeout'],
])('check says what is wrong with the callback', async (answer, message) => {
  const { made } = adapter({}, answer);
  await expect(made.check(signal)).rejects.toMatchObject({ name: 'ChannelUnreachable', message });
});

test('without a callback nothing is posted, and the answer goes into the response', async () => {
  const { made, calls } = adapter({ callback_url: '' });
  await made.check(signal);
  await made.send(REPLY, signal);
  expect([made.answersInResponse, calls]).toEqual([true, []]);
});

test('it is connected until the signal aborts', async () => {
  const abort = new AbortController();
  let told = 0;
  const link = { connected: () => (told += 1) } as unknown as Parameters<WebhookAdapter['receive']>[0];
  const { made } = adapter({});
  const received = made.receive(link, abort.signal);
  abort.abort();
  await received;
  await made.receive(link, abort.signal);
  expect(told).toBe(2);
});
