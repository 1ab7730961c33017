import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, signingKey } from '../../common/text/webhook-secret.js';
import { signatureProblem } from './signature-check.js';

const secret = newWebhookSecret();
const key = signingKey(secret) ?? Buffer.alloc(0);
const body = Buffer.from('{"content":"Grüße"}');
const nowSecs = 1_764_072_000;

function headers(at = nowSecs) {
  const signature = new Webhook(secret).sign('msg_1', new Date(at * 1000), body.toString());
  return { id: 'msg_1', timestamp: String(at), signature };
}

test('what another library has signed is right, also among older signatures', () => {
  expect(signatureProblem(headers(), body, key, nowSecs)).toBeUndefined();
  const { signature } = headers();
  const rotated = { ...headers(), signature: `v1,AAAA v1a,xyz ${signature}` };
  expect(signatureProblem(rotated, body, key, nowSecs)).toBeUndefined();
});

test('five minutes off is in time, more is a replay', () => {
  for (const off of [-300, 300])
    expect(signatureProblem(headers(nowSecs + off), body, key, nowSecs)).toBeUndefined();
  for (const off of [-301, 301])
    expect(signatureProblem(headers(nowSecs + off), body, key, nowSecs)).toBe('stale');
});

test.each([
  ['another id', { ...headers(), id: 'msg_2' }],
  ['another time', { ...headers(), timestamp: String(nowSecs - 1) }],
  ['no signature of ours', { ...headers(), signature: 'v2,abc' }],
  ['an empty one', { ...headers(), signature: 'v1,' }],
])('%s is wrong', (_, given) => {
  expect(signatureProblem(given, body, key, nowSecs)).toBe('wrong');
});

test('other bytes, and another key, are wrong', () => {
  expect(signatureProblem(headers(), Buffer.from('{}'), key, nowSecs)).toBe('wrong');
  expect(signatureProblem(headers(), body, Buffer.from('another key of ours'), nowSecs)).toBe('wrong');
});

test.each([
  ['id', { ...headers(), id: undefined }],
  ['visible id', { ...headers(), id: 'a b' }],
  ['timestamp', { ...headers(), timestamp: undefined }],
  ['number for a timestamp', { ...headers(), timestamp: '1e9' }],
  ['signature', { ...headers(), signature: undefined }],
])('without a %s it is not signed', (_, given) => {
  expect(signatureProblem(given, body, key, nowSecs)).toBe('unsigned');
});
