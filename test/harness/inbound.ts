import { Webhook } from 'standardwebhooks';
import type { TestGateway } from './gateway.js';

let count = 0;

/** Sends a message over a webhook channel with a raw secret, in a new conversation, and returns the answer. */
export async function postInbound(
  gateway: TestGateway,
  channel: string,
  secret: string,
  message: { readonly user: string; readonly content: string },
): Promise<{ readonly content: string }> {
  const id = `inbound_${process.pid}_${count++}`;
  const body = JSON.stringify({ conversation: id, ...message });
  return (await (await postSigned(gateway, channel, secret, { id, body })).json()) as { content: string };
}

/** Sends a body unchanged, signed with the channel's raw secret. */
export function postSigned(
  gateway: TestGateway,
  channel: string,
  secret: string,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<Response> {
  return fetch(`http://127.0.0.1:${gateway.started.ports.b}/inbound/${channel}`, {
    method: 'POST',
    headers: signedHeaders(secret, { id, body }),
    body,
  });
}

/** The headers of a request with this body. */
export function signedHeaders(
  secret: string,
  { id, body }: { readonly id: string; readonly body: string },
): Record<string, string> {
  const at = new Date();
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret, { format: 'raw' }).sign(id, at, body),
  };
}
