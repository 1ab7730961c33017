import type { FailureReason, RefusalReason } from '../../platform/outbound/outbound.errors.js';

/** Why an attempt failed: the receiver's status, a network failure, a refusal by the address guard, or an unreadable secret. */
export type AttemptError =
  | `http_${number}`
  | FailureReason
  | `refused_${RefusalReason}`
  | 'secret_unreadable';

/** The outcome of one attempt. */
export interface Outcome {
  readonly deliveryId: string;
  readonly hookId: string;
  /** `pending` when it will be tried again. */
  readonly status: 'delivered' | 'pending' | 'failed';
  readonly httpStatus: number | null;
  readonly error: AttemptError | null;
  /** Seconds until the next attempt; null without one. */
  readonly delaySecs: number | null;
  /** The receiver wants no more deliveries (410). */
  readonly gone: boolean;
}
