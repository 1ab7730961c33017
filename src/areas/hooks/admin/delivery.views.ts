import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '../../../http/paging/keyset-list.js';
import {
  Count,
  isoOrNull,
  Moment,
  MomentOrNull,
  NextCursor,
  TextOrNull,
} from '../../../http/paging/page-view.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../delivery.js';
import type { DeliveryDetail, DeliveryRow } from '../delivery-directory.service.js';
import type { HookOverview } from '../hook-admin.js';

/** A webhook without its secret. */
export class AdminHookView {
  @ApiProperty({ example: 'hook_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty()
  url!: string;

  @ApiProperty({ type: [String] })
  events!: readonly string[];

  @ApiProperty({ description: 'False: it was given up, or ended with its token' })
  active!: boolean;

  @TextOrNull('Why it is not active')
  inactive_reason!: string | null;

  @MomentOrNull('Since when every attempt failed')
  failing_since!: string | null;

  @Count('Deliveries that have not succeeded yet')
  waiting!: number;

  @Moment()
  created_at!: string;
}

export class AdminHookPageView {
  @ApiProperty({ type: [AdminHookView], description: 'Newest first' })
  items!: AdminHookView[];

  @NextCursor()
  next_cursor!: string | null;
}

/** A delivery without what is delivered. */
export class DeliveryView {
  @ApiProperty({ example: '4711' })
  id!: string;

  @ApiProperty()
  hook_id!: string;

  @ApiProperty()
  event_id!: string;

  @ApiProperty({ example: 'message.sent' })
  event!: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null before its first attempt' })
  sequence!: number | null;

  @ApiProperty({ enum: [...DELIVERY_STATUSES] })
  status!: DeliveryStatus;

  @Count()
  attempts!: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'HTTP status of the last attempt' })
  last_status!: number | null;

  @TextOrNull('Why the last attempt got no answer')
  last_error!: string | null;

  @Moment()
  created_at!: string;

  @MomentOrNull()
  last_attempt_at!: string | null;

  @MomentOrNull()
  next_attempt_at!: string | null;
}

export class DeliveryPageView {
  @ApiProperty({ type: [DeliveryView], description: 'Newest first' })
  items!: DeliveryView[];

  @NextCursor()
  next_cursor!: string | null;
}

export class DeliveryDetailView extends DeliveryView {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description:
      'What is delivered; null for a token without `sessions:read` (for events of the audit: `audit:read`)',
  })
  data!: Readonly<Record<string, unknown>> | null;
}

export class RedeliveryView {
  @ApiProperty()
  id!: string;

  @ApiProperty({ enum: [...DELIVERY_STATUSES] })
  status!: DeliveryStatus;
}

export function presentHookPage({ items, nextCursor }: Page<HookOverview>): AdminHookPageView {
  return { items: items.map(presentHook), next_cursor: nextCursor };
}

function presentHook(hook: HookOverview): AdminHookView {
  return {
    id: hook.id,
    url: hook.url,
    events: hook.events,
    active: hook.active,
    inactive_reason: hook.inactive_reason,
    failing_since: isoOrNull(hook.failing_since),
    waiting: hook.waiting,
    created_at: hook.created_at.toISOString(),
  };
}

export function presentDeliveryPage({ items, nextCursor }: Page<DeliveryRow>): DeliveryPageView {
  return { items: items.map(presentDelivery), next_cursor: nextCursor };
}

function presentDelivery(row: DeliveryRow): DeliveryView {
  return {
    id: row.id,
    hook_id: row.hook_id,
    event_id: row.event_id,
    event: row.event,
    sequence: row.sequence,
    status: row.status,
    attempts: row.attempts,
    last_status: row.last_status,
    last_error: row.last_error,
    created_at: row.created_at.toISOString(),
    last_attempt_at: isoOrNull(row.last_attempt_at),
    next_attempt_at: isoOrNull(row.next_attempt_at),
  };
}

export function presentDeliveryDetail(detail: DeliveryDetail): DeliveryDetailView {
  return { ...presentDelivery(detail), data: detail.data };
}
