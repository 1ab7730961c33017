import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the sender's clock may be off, in seconds; what was signed longer ago is a replay. */
const TOLERANCE_SECS = 300;
const MAX_SIGNATURES = 8;

/** The headers of a signed request (Standard Webhooks), as they came. */
export interface SignedHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

/** `unsigned`: a header is missing or is none; `wrong`: no signature fits; `stale`: it fits, and was made at another time. */
export type SignatureProblem = 'unsigned' | 'wrong' | 'stale';

/** What is wrong with the signature of these bytes; undefined when they are the sender's, signed now. */
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
