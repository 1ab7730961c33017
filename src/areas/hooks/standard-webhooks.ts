import { createHmac, timingSafeEqual } from 'node:crypto';
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

/** Largest difference to the sender's clock, in seconds; older signatures count as replays. */
const TOLERANCE_SECS = 300;
const MAX_SIGNATURES = 8;

/** The headers of a signed request (Standard Webhooks), as received. */
export interface SignedHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

/** `unsigned`: a header is missing or malformed; `wrong`: no signature matches; `stale`: one matches, but is too old or too new. */
export type SignatureProblem = 'unsigned' | 'wrong' | 'stale';

/** The problem with the signature of `body`; undefined when it is valid and recent. */
export function signatureProblem(
  { id, timestamp, signature }: SignedHeaders,
  body: Buffer,
  key: Buffer,
  nowSecs: number,
): SignatureProblem | undefined {
  if (id === undefined || !/^[\x21-\x7e]{1,255}$/.test(id)) return 'unsigned';
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp) || signature === undefined) return 'unsigned';
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const presented = signature.split(' ', MAX_SIGNATURES).filter((one) => one.startsWith('v1,'));
  if (!presented.some((one) => isSame(Buffer.from(one.slice(3), 'base64'), expected))) return 'wrong';
  return Math.abs(nowSecs - Number(timestamp)) > TOLERANCE_SECS ? 'stale' : undefined;
}

function isSame(presented: Buffer, expected: Buffer): boolean {
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}
