import type { GatewaySettings } from '../settings/settings.schema.js';

/** Whether the buckets are rows that all replicas share. */
export function sharesRateLimits({ rate_limits, database }: GatewaySettings): boolean {
  const { store } = rate_limits;
  return store === 'postgres' || (store === 'auto' && database.url !== '');
}
