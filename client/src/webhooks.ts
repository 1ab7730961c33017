import { Webhook } from 'standardwebhooks';

/** What the gateway posts to a webhook. */
export interface DeliveredEvent<Data = Readonly<Record<string, unknown>>> {
  /** The same in every delivery of the event: remember it, and do its work once. */
  readonly id: string;
  readonly event: string;
  readonly timestamp: string;
  readonly sequence: number;
  readonly data: Data;
}

/**
 * The event of a delivery whose signature and time are right. Throws `WebhookVerificationError` for any other.
 * @param body as it came, before anything parsed it
 * @param secret as it was given when the webhook was registered: `whsec_…` in base64, or any text
 */
export function verifiedEvent<Data = Readonly<Record<string, unknown>>>(
  secret: string,
  body: string,
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>,
): DeliveredEvent<Data> {
  const webhook = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const plain = entries.map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return webhook.verify(body, Object.fromEntries(plain)) as DeliveredEvent<Data>;
}
