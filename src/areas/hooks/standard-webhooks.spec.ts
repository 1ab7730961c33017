import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, signingKey } from '../../common/text/webhook-secret.js';
import { deliveryBody, deliveryHeaders, signatureProblem } from './standard-webhooks.js';

const delivery = {
  eventId: 'evt_1',
  event: 'session.created',
  occurredAt: new Date('2026-01-02T03:04:05.678Z'),
  sequence: 7,
};

test('the body has the five fields in order, and the payload byte for byte as it was stored', () => {
  const body = deliveryBody(delivery, '{"b" : 1.50,"a":"\\u00e9"}');
  expect(body).toBe(
    '{"id":"evt_1","event":"session.created","timestamp":"2026-01-02T03:04:05.678Z","sequence":7,"data":{"b" : 1.50,"a":"\\u00e9"}}',
  );
});

test('the signature is the one that the specification of Standard Webhooks gives', () => {
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const headers = deliveryHeaders(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    '{"test": 2432232314}',
    [key],
    1_614_265_330,
  );
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  expect(headers['webhook-timestamp']).toBe('1614265330');
});

test('there is one signature for each key, newest first, and none without a key', () => {
  const [one, two] = [Buffer.from('one'), Buffer.from('two')];
  const both = deliveryHeaders('id', 'body', [one, two], 1)['webhook-signature'];
  const alone = [one, two].map((key) => deliveryHeaders('id', 'body', [key], 1)['webhook-signature']);
  expect(both).toBe(alone.join(' '));
  expect(deliveryHeaders('id', 'body', [], 1)).not.toHaveProperty('webhook-signature');
});

const secret = newWebhookSecret();
const key = signingKey(secret) ?? Buffer.alloc(0);
const body = Buffer.from('{"content":"Grüße"}');
const nowSecs = 1_764_072_000;

function signed(at = nowSecs) {
  const signature = new Webhook(secret).sign('msg_1', new Date(at * 1000), body.toString());
  return { id: 'msg_1', timestamp: String(at), signature };
}

test('a signature made by another library is accepted, also among older ones', () => {
  expect(signatureProblem(signed(), body, key, nowSecs)).toBeUndefined();
  const { signature } = signed();
  const rotated = { ...signed(), signature: `v1,AAAA v1a,xyz ${signature}` };
  expect(signatureProblem(rotated, body, key, nowSecs)).toBeUndefined();
});

test('a signature five minutes off is accepted, an older one is a replay', () => {
  for (const off of [-300, 300])
    expect(signatureProblem(signed(nowSecs + off), body, key, nowSecs)).toBeUndefined();
  for (const off of [-301, 301])
    expect(signatureProblem(signed(nowSecs + off), body, key, nowSecs)).toBe('stale');
});

test.each([
  ['another id', { ...signed(), id: 'msg_2' }],
  ['another time', { ...signed(), timestamp: String(nowSecs - 1) }],
  ['no signature of ours', { ...signed(), signature: 'v2,abc' }],
  ['an empty one', { ...signed(), signature: 'v1,' }],
])('%s is refused', (_, given) => {
  expect(signatureProblem(given, body, key, nowSecs)).toBe('wrong');
});

test('other bytes, and another key, are refused', () => {
  expect(signatureProblem(signed(), Buffer.from('{}'), key, nowSecs)).toBe('wrong');
  expect(signatureProblem(signed(), body, Buffer.from('another key of ours'), nowSecs)).toBe('wrong');
});

test.each([
  ['id', { ...signed(), id: undefined }],
  ['visible id', { ...signed(), id: 'a b' }],
  ['timestamp', { ...signed(), timestamp: undefined }],
  ['number for a timestamp', { ...signed(), timestamp: '1e9' }],
  ['signature', { ...signed(), signature: undefined }],
])('a message without a %s counts as unsigned', (_, given) => {
  expect(signatureProblem(given, body, key, nowSecs)).toBe('unsigned');
});
