const MINUTE = 60;
const HOUR = 3600;

/** Seconds from one attempt to the next: the schedule of Standard Webhooks. The first attempt is immediate. */
export const RETRY_DELAYS_SECS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

const JITTER = 0.2;
const MAX_WAIT_SECS = 24 * HOUR;

export interface FailedAttempt {
  /** Attempts so far, this one included; from 1. */
  readonly attempts: number;
  /** What the receiver asked for, in seconds. */
  readonly retryAfterSecs?: number | undefined;
}

/**
 * Seconds until the next attempt: the schedule ±20 %, and never sooner than the receiver asked (at most a day).
 * Undefined when this was the last attempt.
 * @param random from 0 to 1
 */
export function nextDelaySecs(
  { attempts, retryAfterSecs = 0 }: FailedAttempt,
  random: () => number = Math.random,
): number | undefined {
  const planned = RETRY_DELAYS_SECS[attempts - 1];
  if (planned === undefined) return undefined;
  const jittered = planned * (1 - JITTER + 2 * JITTER * random());
  return Math.max(jittered, Math.min(retryAfterSecs, MAX_WAIT_SECS));
}

/** Seconds of a `Retry-After` header, a number or a date (RFC 9110, 10.2.3); undefined when it is neither. */
export function retryAfterSecs(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - nowMs) / 1000);
}
