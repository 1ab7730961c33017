import { newWebhookSecret, signingKey } from './webhook-secret.js';

test.each([
  ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')],
  ['plain text', Buffer.from('plain text')],
  ['schlüssel', Buffer.from('schlüssel', 'utf8')],
  ['WHSEC_abcd', Buffer.from('WHSEC_abcd')],
])('the key of %s', (secret, key) => expect(signingKey(secret)).toEqual(key));

test.each(['whsec_', 'whsec_!!!!', 'whsec_abc', 'whsec_ab-_', 'whsec_YWJj ', 'whsec_YWI'])(
  '%s is no secret',
  (secret) => expect(signingKey(secret)).toBeUndefined(),
);

test('a new secret has 24 random bytes', () => {
  const secret = newWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(signingKey(secret)).toHaveLength(24);
  expect(newWebhookSecret()).not.toBe(secret);
});
