import { Injectable } from '@nestjs/common';
import { NotFound } from '../../common/errors/gateway-error.js';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Database } from '../../platform/database/database.js';
import {
  bigint,
  double,
  json,
  nullable,
  oneOf,
  optional,
  type RowOf,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import { filtersGiven, statement, statementsBy } from '../../platform/database/statement.js';
import { refuseSomeAgents } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants } from '../../platform/tokens/scopes.js';
import type { DeliveryStatus } from './delivery.js';
import { DELIVERY_OVERVIEW, HOOK_OVERVIEW, HOOK_STATE, HookAdmin, type HookOverview } from './hook-admin.js';

const DELIVERY = {
  ...{ id: text, hook_id: text, ...DELIVERY_OVERVIEW },
  last_attempt_at: nullable(timestamp),
};
/** A delivery as operators see it. */
export type DeliveryRow = RowOf<typeof DELIVERY>;

const DELIVERY_DETAIL = {
  ...DELIVERY,
  /** Null for a caller that may not read what the event is about, and once the event is deleted. */
  data: nullable(json<Readonly<Record<string, unknown>>>()),
};
export type DeliveryDetail = RowOf<typeof DELIVERY_DETAIL>;

export interface DeliveryFilter {
  readonly hook?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly since?: Date | undefined;
}

/** A webhook that was given up, or whose every attempt fails. */
export type TroubledHook = RowOf<typeof HOOK_STATE>;

/** A webhook whose deliveries wait, and for how many seconds the oldest one does. */
export type LaggingHook = RowOf<typeof LAGGING.row>;

const HOOKS = new KeysetList('hooks', ['time', 'text'], ({ created_at: at, id }: HookOverview) => [at, id]);
const DELIVERIES = new KeysetList('deliveries', ['number'], ({ id }: DeliveryRow) => [id]);

const COLUMNS = `id::text, hook_id, event_id, event, sequence::float8, status, attempts, last_status, last_error, created_at,
  last_attempt_at, next_attempt_at`;
const HOOK_PAGE = statement({
  name: 'delivery_directory.hooks',
  params: { at: timestamp, id: text, most: bigint },
  row: HOOK_OVERVIEW,
  sql: `
    SELECT h.id, h.url, h.events, h.active, h.inactive_reason, l.failing_since, h.created_at,
      (SELECT count(*)::int FROM hook_deliveries AS d
       WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts = 0)
      + (SELECT count(*)::int FROM hook_deliveries AS d
         WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts > 0) AS waiting
    FROM hooks AS h LEFT JOIN hook_lanes AS l ON l.hook_id = h.id
    WHERE h.message_id IS NULL AND (h.created_at, h.id) < (:at::timestamptz, :id) ORDER BY h.created_at DESC, h.id DESC LIMIT :most`,
});
/** Without webhooks of revoked tokens: nobody has to look after those. */
const TROUBLED = statement({
  name: 'delivery_directory.troubled',
  params: { most: bigint },
  row: HOOK_STATE,
  sql: `
    SELECT h.id, h.url, h.active, h.inactive_reason, l.failing_since, h.created_at
    FROM hooks AS h LEFT JOIN hook_lanes AS l ON l.hook_id = h.id
    WHERE h.message_id IS NULL
      AND ((NOT h.active AND h.inactive_reason IS DISTINCT FROM 'token_revoked') OR (h.active AND l.failing_since IS NOT NULL))
    ORDER BY l.failing_since NULLS LAST LIMIT :most`,
});
/** The oldest delivery of each active webhook that was never tried: none waits long while a replica sends. */
const LAGGING = statement({
  name: 'delivery_directory.lagging',
  params: { secs: double, most: bigint },
  row: { id: text, secs: double },
  sql: `
    SELECT h.id, extract(epoch FROM now() - oldest.created_at)::float8 AS secs
    FROM hooks AS h, LATERAL (
      SELECT created_at FROM hook_deliveries AS d WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts = 0
      ORDER BY d.sequence, d.id LIMIT 1
    ) AS oldest
    WHERE h.active AND oldest.created_at < now() - make_interval(secs => :secs) ORDER BY oldest.created_at LIMIT :most`,
});
const FIND = statement({
  name: 'delivery_directory.find',
  params: { id: bigint },
  row: DELIVERY_DETAIL,
  sql: `
    SELECT ${COLUMNS}, (SELECT data FROM events WHERE events.id = hook_deliveries.event_id) AS data
    FROM hook_deliveries WHERE id = :id::int8`,
});

const CONDITIONS = {
  hook: 'hook_id = :hook',
  status: 'status = :status',
  since: 'created_at >= :since',
} as const satisfies Record<keyof DeliveryFilter, string>;
const FILTERS = Object.keys(CONDITIONS) as readonly (keyof DeliveryFilter)[];
const DELIVERY_PAGE = statementsBy(FILTERS, (given) => ({
  name: ['delivery_directory.list', ...given].join('.'),
  replanned: true,
  params: {
    ...{ before: bigint, most: bigint },
    ...{ hook: optional(text), status: optional(oneOf<DeliveryStatus>()), since: optional(timestamp) },
  },
  row: DELIVERY,
  sql: `
    SELECT ${COLUMNS} FROM hook_deliveries
    WHERE id < :before::int8${[...given].map((filter) => ` AND ${CONDITIONS[filter]}`).join('')}
    ORDER BY hook_deliveries.id DESC LIMIT :most`,
}));

class DeliveryNotFound extends NotFound {
  constructor() {
    super('There is no such delivery. Those that ended are kept for some days.');
  }
}

/** Webhooks and their deliveries, for operators. */
@Injectable()
export class DeliveryDirectory {
  constructor(
    private readonly database: Database,
    private readonly admin: HookAdmin,
  ) {}

  /** Newest first. */
  async hooks(query: PageQuery, caller: Caller): Promise<Page<HookOverview>> {
    refuseSomeAgents('webhooks and their deliveries are', caller);
    const [at, id] = HOOKS.after(query);
    return HOOKS.page(await this.database.query(HOOK_PAGE, { at, id, most: query.limit + 1 }), query);
  }

  /** At most `most` webhooks that were given up, or fail. */
  troubled(most: number): Promise<TroubledHook[]> {
    return this.database.query(TROUBLED, { most });
  }

  /** At most `most` active webhooks with a delivery that has waited for its first attempt longer than that, the longest first. */
  lagging(longerThanSecs: number, most: number): Promise<LaggingHook[]> {
    return this.database.query(LAGGING, { secs: longerThanSecs, most });
  }

  /** Newest first. */
  async list(
    { hook, status, since, ...query }: PageQuery & DeliveryFilter,
    caller: Caller,
  ): Promise<Page<DeliveryRow>> {
    refuseSomeAgents('webhooks and their deliveries are', caller);
    const filters = { hook, status, since };
    const found = await this.database.query(DELIVERY_PAGE(filtersGiven(filters)), {
      ...{ ...filters, before: DELIVERIES.after(query, [hook, status])[0], most: query.limit + 1 },
    });
    return DELIVERIES.page(found, query, [hook, status]);
  }

  /** Throws `DeliveryNotFound`. */
  async find(id: string, caller: Caller): Promise<DeliveryDetail> {
    refuseSomeAgents('webhooks and their deliveries are', caller);
    const found = /^[1-9]\d{0,17}$/.test(id) ? (await this.database.query(FIND, { id }))[0] : undefined;
    if (found === undefined) throw new DeliveryNotFound();
    return mayRead(found.event, caller) ? found : { ...found, data: null };
  }

  /** Sends it once more; its webhook becomes active again. Throws `DeliveryNotFound`, `HookNotFound` and `HookEnded`. */
  async redeliver(
    id: string,
    caller: Caller,
  ): Promise<{ readonly id: string; readonly status: DeliveryStatus }> {
    const { hook_id: hookId, event_id: eventId } = await this.find(id, caller);
    await this.admin.replay(hookId, { since: new Date(0), eventId, delivered: true });
    return { id, status: 'pending' };
  }
}

/**
 * Events contain what was said, and some contain audit entries: the right to manage webhooks does not include reading
 * those.
 */
function mayRead(event: string, { scopes }: Caller): boolean {
  return grants(scopes, event.startsWith('audit.') ? 'audit:read' : 'sessions:read');
}
