import { createHmac, timingSafeEqual } from 'node:crypto';

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
