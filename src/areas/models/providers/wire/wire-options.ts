import type { Egress } from '../../../../platform/outbound/egress.js';
import type { RetryPolicy } from './stream-with-retries.js';

/** How an adapter reaches its provider. */
export interface WireOptions {
  /** Empty sends no credentials at all. */
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly defaultModel: string;
  readonly retries: RetryPolicy;
  /** How connections leave the network. */
  readonly egress: Egress;
}
