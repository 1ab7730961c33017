import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import type { ReceivedAttempt } from './hook-receiver.js';

/** Has two third-party libraries verify an attempt; throws when either refuses it. */
export function verifyAttempt({ body, headers }: ReceivedAttempt, secret: string): void {
  const isRaw = !secret.startsWith('whsec_');
  for (const Judge of [Webhook, SvixWebhook]) {
    const judge = isRaw ? new Judge(Buffer.from(secret), { format: 'raw' }) : new Judge(secret);
    judge.verify(body, headers);
  }
}
