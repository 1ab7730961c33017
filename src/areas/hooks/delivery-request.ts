import { createHmac } from 'node:crypto';
import type { Delivery } from './delivery.js';

/** The body of a delivery, the same on every attempt. `data` is JSON text and is sent as stored. */
export function deliveryBody(
  { eventId, event, occurredAt, sequence }: Pick<Delivery, 'eventId' | 'event' | 'occurredAt' | 'sequence'>,
  data: string,
): string {
  const [id, name] = [JSON.stringify(eventId), JSON.stringify(event)];
  return `{"id":${id},"event":${name},"timestamp":"${occurredAt.toISOString()}","sequence":${sequence},"data":${data}}`;
}

/**
 * The headers of one attempt (Standard Webhooks), with one signature per key in the order given; none without keys.
 * @param unixSecs time of the attempt; receivers compare it with their clock
 */
export function deliveryHeaders(
  id: string,
  body: string,
  keys: readonly Buffer[],
  unixSecs: number,
): Record<string, string> {
  const signatures = keys.map((key) => `v1,${signature(key, `${id}.${unixSecs}.${body}`)}`);
  return {
    'content-type': 'application/json',
    'user-agent': 'agent-gateway',
    'webhook-id': id,
    'webhook-timestamp': String(unixSecs),
    ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
  };
}

function signature(key: Buffer, content: string): string {
  return createHmac('sha256', key).update(content).digest('base64');
}
