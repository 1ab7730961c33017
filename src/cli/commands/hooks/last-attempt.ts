import type { DeliveryOverview } from '../../../areas/hooks/hook-admin.js';

/** Result of the last attempt: the HTTP status, or the error that prevented a response. */
export function lastOf({ last_status: status, last_error: error }: DeliveryOverview): string {
  return status === null ? (error ?? '-') : String(status);
}
