import { randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/**
 * The signing key of a secret (Standard Webhooks): base64 after `whsec_`, anything else as its raw bytes. Undefined
 * when the part after `whsec_` is no base64.
 */
export function signingKey(secret: string): Buffer | undefined {
  if (!secret.startsWith(PREFIX)) return Buffer.from(secret);
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, 'base64');
  return key.length > 0 && key.toString('base64') === text ? key : undefined;
}

/** A secret of 24 random bytes, as the public libraries expect it. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(24).toString('base64');
}
