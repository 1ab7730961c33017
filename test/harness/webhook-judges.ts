import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import type { ReceivedAttempt } from './hook-receiver.js';

/** Lets two libraries that are not ours verify an attempt; throws when either does not believe it. */
export function verifyAttempt({ body, headers }: ReceivedAttempt, secret: string): void {
  const format = secret.startsWith('whsec_') ? undefined : ('raw' as const);
  for (const Judge of [Webhook, SvixWebhook]) {
    const judge = new Judge(secret, format === undefined ? undefined : { format });
    judge.verify(body, headers as Record<string, string>);
  }
}
