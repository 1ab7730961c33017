import { Injectable } from '@nestjs/common';
import { NotFound } from '../../common/errors/gateway-error.js';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Conditions } from '../../platform/database/conditions.js';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { refuseSomeAgents } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants } from '../../platform/tokens/scopes.js';
import type { DeliveryStatus } from './delivery.js';
import { HookAdmin, type HookOverview } from './hook-admin.js';
import { HookEnded } from './hooks.errors.js';

/** A delivery as operators see it; the columns of the database. */
export interface DeliveryRow {
  readonly id: string;
  readonly hook_id: string;
  readonly event_id: string;
  readonly event: string;
  readonly sequence: number | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly last_attempt_at: Date | null;
  readonly next_attempt_at: Date | null;
}

export interface DeliveryDetail extends DeliveryRow {
  /** Null for a caller who may not read what the event is about, and once the event is gone. */
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface DeliveryFilter {
  readonly hook?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly since?: Date | undefined;
}

/** A webhook that is given up, or whose every attempt fails. */
export type TroubledHook = Pick<
  HookOverview,
  'id' | 'url' | 'active' | 'inactive_reason' | 'failing_since' | 'created_at'
>;

const HOOKS = new KeysetList<HookOverview>('hooks', ['time', 'text'], ({ created_at: at, id }) => [at, id]);
const DELIVERIES = new KeysetList<DeliveryRow>('deliveries', ['number'], ({ id }) => [id]);

const COLUMNS = `id::text, hook_id, event_id, event, sequence::float8, status, attempts, last_status, last_error, created_at,
  last_attempt_at, next_attempt_at`;
const HOOK_PAGE: Statement = {
  name: 'delivery_directory.hooks',
  text: `
    SELECT h.id, h.url, h.events, h.active, h.inactive_reason, l.failing_since, h.created_at,
      (SELECT count(*)::int FROM hook_deliveries AS d
       WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts = 0)
      + (SELECT count(*)::int FROM hook_deliveries AS d
         WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts > 0) AS waiting
    FROM hooks AS h LEFT JOIN hook_lanes AS l ON l.hook_id = h.id
    WHERE h.message_id IS NULL AND (h.created_at, h.id) < ($1::timestamptz, $2) ORDER BY h.created_at DESC, h.id DESC LIMIT $3`,
};
/** Revoked tokens took theirs with them: nobody has to look after those. */
const TROUBLED: Statement = {
  name: 'delivery_directory.troubled',
  text: `
    SELECT h.id, h.url, h.active, h.inactive_reason, l.failing_since, h.created_at
    FROM hooks AS h LEFT JOIN hook_lanes AS l ON l.hook_id = h.id
    WHERE h.message_id IS NULL
      AND ((NOT h.active AND h.inactive_reason IS DISTINCT FROM 'token_revoked') OR (h.active AND l.failing_since IS NOT NULL))
    ORDER BY l.failing_since NULLS LAST LIMIT $1`,
};
const FIND: Statement = {
  name: 'delivery_directory.find',
  text: `
    SELECT ${COLUMNS}, (SELECT data FROM events WHERE events.id = hook_deliveries.event_id) AS data
    FROM hook_deliveries WHERE id = $1::int8`,
};

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
    const values = [...HOOKS.after(query), query.limit + 1];
    return HOOKS.page(await this.database.query<HookOverview>(HOOK_PAGE, values), query);
  }

  /** At most `most` webhooks that were given up, or fail. */
  troubled(most: number): Promise<TroubledHook[]> {
    return this.database.query<TroubledHook>(TROUBLED, [most]);
  }

  /** Newest first. */
  async list(
    { hook, status, since, ...query }: PageQuery & DeliveryFilter,
    caller: Caller,
  ): Promise<Page<DeliveryRow>> {
    refuseSomeAgents('webhooks and their deliveries are', caller);
    const filters = [hook, status];
    const found = new Conditions([...DELIVERIES.after(query, filters), query.limit + 1])
      .add('hook', hook, 'hook_id = :value')
      .add('status', status, 'status = :value')
      .add('since', since, 'created_at >= :value');
    const statement = {
      name: `delivery_directory.list${found.name}`,
      replanned: true,
      text: `SELECT ${COLUMNS} FROM hook_deliveries WHERE id < $1::int8${found.text} ORDER BY hook_deliveries.id DESC LIMIT $2`,
    };
    return DELIVERIES.page(await this.database.query<DeliveryRow>(statement, found.values), query, filters);
  }

  /** Throws `DeliveryNotFound`. */
  async find(id: string, caller: Caller): Promise<DeliveryDetail> {
    refuseSomeAgents('webhooks and their deliveries are', caller);
    const found = /^[1-9]\d{0,17}$/.test(id)
      ? (await this.database.query<DeliveryDetail>(FIND, [id]))[0]
      : undefined;
    if (found === undefined) throw new DeliveryNotFound();
    return mayRead(found.event, caller) ? found : { ...found, data: null };
  }

  /** Sends it once more; its webhook becomes active again. Throws `DeliveryNotFound`, and `HookEnded`. */
  async redeliver(
    id: string,
    caller: Caller,
  ): Promise<{ readonly id: string; readonly status: DeliveryStatus }> {
    const { hook_id: hookId, event_id: eventId } = await this.find(id, caller);
    const replayed = await this.admin.replay(hookId, { since: new Date(0), eventId, delivered: true });
    if (replayed === undefined) throw new HookEnded();
    return { id, status: 'pending' };
  }
}

/** Events tell what was said, and some what is in the audit: whoever may manage webhooks does not read that thereby. */
function mayRead(event: string, { scopes }: Caller): boolean {
  return grants(scopes, event.startsWith('audit.') ? 'audit:read' : 'sessions:read');
}
