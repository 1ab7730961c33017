import type { DeliveryOverview, HookOverview } from '../areas/hooks/hook-admin.js';
import { textTable } from './text-table.js';

/** The webhooks as a table with a head, for people. */
export function hookTable(hooks: readonly HookOverview[]): string {
  const head = ['ID', 'STATE', 'WAITING', 'EVENTS', 'URL'];
  return textTable([
    head,
    ...hooks.map((hook) => [hook.id, stateOf(hook), String(hook.waiting), hook.events.join(','), hook.url]),
  ]);
}

export function deliveryTable(deliveries: readonly DeliveryOverview[]): string {
  const head = ['EVENT ID', 'EVENT', 'NUMBER', 'STATUS', 'ATTEMPTS', 'LAST', 'CREATED', 'NEXT ATTEMPT'];
  return textTable([
    head,
    ...deliveries.map((delivery) => [
      delivery.event_id,
      delivery.event,
      String(delivery.sequence ?? '-'),
      delivery.status,
      String(delivery.attempts),
      lastOf(delivery),
      second(delivery.created_at),
      delivery.next_attempt_at === null ? '-' : second(delivery.next_attempt_at),
    ]),
  ]);
}

/** Result of the last attempt: the HTTP status, or the error that prevented a response. */
export function lastOf({ last_status: status, last_error: error }: DeliveryOverview): string {
  return status === null ? (error ?? '-') : String(status);
}

function stateOf({ active, inactive_reason: reason, failing_since: failing }: HookOverview): string {
  if (!active) return `given up (${reason ?? 'unknown'})`;
  return failing === null ? 'active' : `failing since ${second(failing)}`;
}

/** `2026-01-31 14:05:09Z` */
function second(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
