import { columnsOf } from '../../platform/database/entity-columns.js';
import { double, nullable, type RowOf, text } from '../../platform/database/sql-types.js';
import { EventEntity } from '../../platform/events/event.entity.js';
import type { FailureReason, RefusalReason } from '../../platform/outbound/outbound.errors.js';
import { HookDeliveryEntity, HookEntity } from './hook.entity.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event for one hook, claimed for an attempt. */
export interface Delivery {
  readonly id: string;
  readonly hookId: string;
  readonly eventId: string;
  /** The name under which this hook gets the event. */
  readonly event: string;
  /** Its number among the events of this hook, from 1. */
  readonly sequence: number;
  readonly occurredAt: Date;
  /** The payload as JSON text; undefined when it is large and has to be read separately. */
  readonly data: string | undefined;
  /** Attempts before this one. */
  readonly attempts: number;
  readonly url: string;
  /** Sealed; the second one also signs during a rotation. */
  readonly secrets: readonly (string | null)[];
}

/** The columns of a delivery that is claimed. */
export const CLAIMED_DELIVERY = {
  ...columnsOf(HookDeliveryEntity, 'hookId', 'eventId', 'event', 'attempts'),
  ...columnsOf(EventEntity, 'occurredAt'),
  ...columnsOf(HookEntity, 'url', 'secret', 'oldSecret'),
  ...{ id: text, sequence: double, data: nullable(text) },
};

/** Payloads up to this many bytes are read with the claim; larger ones would need too much memory together. */
const CARRIED_BYTES = 16_384;

/** The columns that a claim reads from `d` (delivery), `e` (event) and `h` (hook). */
export const DELIVERY_COLUMNS = `
  d.id::text, d.hook_id, d.event_id, d.event, d.sequence::float8, d.attempts, e.occurred_at,
  CASE WHEN octet_length(e.data::text) <= ${CARRIED_BYTES} THEN e.data::text END AS data,
  h.url, h.secret, CASE WHEN h.old_secret_until > now() THEN h.old_secret END AS old_secret`;

export function toDelivery(row: RowOf<typeof CLAIMED_DELIVERY>): Delivery {
  return {
    id: row.id,
    hookId: row.hook_id,
    eventId: row.event_id,
    event: row.event,
    sequence: row.sequence,
    occurredAt: row.occurred_at,
    data: row.data ?? undefined,
    attempts: row.attempts,
    url: row.url,
    secrets: [row.secret, row.old_secret],
  };
}

/** Groups deliveries by hook and keeps their order. */
export function byHook(deliveries: readonly Delivery[]): Map<string, Delivery[]> {
  const grouped = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const others = grouped.get(delivery.hookId);
    if (others === undefined) grouped.set(delivery.hookId, [delivery]);
    else others.push(delivery);
  }
  return grouped;
}

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
  readonly status: DeliveryStatus;
  readonly httpStatus: number | null;
  readonly error: AttemptError | null;
  /** Seconds until the next attempt; null without one. */
  readonly delaySecs: number | null;
  /** The receiver wants no more deliveries (410). */
  readonly gone: boolean;
}
