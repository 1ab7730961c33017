import { Webhook } from 'standardwebhooks';
import type { TestGateway } from './gateway.js';

let count = 0;

/** Sends one message over a webhook channel with a raw secret, in a conversation of its own, and returns the answer. */
export async function postInbound(
  gateway: TestGateway,
  channel: string,
  secret: string,
  message: { readonly user: string; readonly content: string },
): Promise<{ readonly content: string }> {
  const id = `inbound_${process.pid}_${count++}`;
  const at = new Date();
  const body = JSON.stringify({ conversation: id, ...message });
  const response = await fetch(`http://127.0.0.1:${gateway.started.ports.b}/inbound/${channel}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret, { format: 'raw' }).sign(id, at, body),
    },
    body,
  });
  return (await response.json()) as { content: string };
}
