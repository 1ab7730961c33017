import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit-log/audit-log.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlRunner, Statement } from '../../../platform/database/sql.js';
import { EventStore } from '../../../platform/events/event.store.js';
import { EventSignal } from '../../../platform/events/event-signal.js';

/** What holds for a plugin on all replicas. */
export interface PluginState {
  readonly name: string;
  readonly disabled: boolean;
  /** Moves with every change. */
  readonly revision: number;
  /** Moves with every reload. */
  readonly loads: number;
}

export interface PluginChange {
  readonly name: string;
  readonly version: string;
  readonly action: 'enable' | 'disable' | 'reload';
  /** The name of the token. */
  readonly actor: string;
}

interface StateRow {
  name: string;
  disabled: boolean;
  revision: string;
  loads: string;
}

/** Moves with every change of any of them. */
export const STATES_REVISION = '(SELECT coalesce(sum(revision), 0)::text FROM plugin_states)';

const ALL: Statement = {
  name: 'plugin_states.all',
  text: 'SELECT name, disabled, revision::text, loads::text FROM plugin_states',
};
const CHANGE: Statement = {
  name: 'plugin_states.change',
  text: `
    INSERT INTO plugin_states AS state (name, disabled, revision, loads) VALUES ($1, $2, 1, $3)
    ON CONFLICT (name) DO UPDATE SET disabled = excluded.disabled, revision = state.revision + 1,
      loads = state.loads + excluded.loads
    RETURNING name, disabled, revision::text, loads::text`,
};

/** What callers settled about plugins: in the database, so that it outlives restarts and holds everywhere. */
@Injectable()
export class PluginStates {
  constructor(
    private readonly database: Database,
    private readonly events: EventStore,
    private readonly signal: EventSignal,
    private readonly audit: AuditLog,
  ) {}

  async all(): Promise<ReadonlyMap<string, PluginState>> {
    const rows = await this.database.query<StateRow>(ALL);
    return new Map(rows.map((row) => [row.name, toState(row)]));
  }

  /** The change, its event and its audit entry commit together. */
  async change(change: PluginChange): Promise<PluginState> {
    const { state, told: deliveries } = await this.database.transaction((runner) =>
      this.write(runner, change),
    );
    this.signal.queued(deliveries);
    return state;
  }

  /** An attempt that changed nothing. */
  async recordFailure({
    name,
    action,
    actor,
    reason,
  }: Omit<PluginChange, 'version'> & { reason: string }): Promise<void> {
    const entry = { action: `plugin.${action}`, actor, target: name, outcome: 'error', details: { reason } };
    await this.audit.record(entry);
  }

  private async write(runner: SqlRunner, { name, version, action, actor }: PluginChange) {
    const isDisabled = action === 'disable';
    const [row] = await runner.query<StateRow>(CHANGE, [name, isDisabled, action === 'reload' ? 1 : 0]);
    if (row === undefined) throw new Error('The state of a plugin was not written.');
    const event = isDisabled ? ('plugin.disabled' as const) : ('plugin.loaded' as const);
    const deliveries = await this.events.emit(runner, { name: event, userId: null, data: { name, version } });
    await this.audit.write(runner, {
      ...{ action: `plugin.${action}`, actor, target: name, outcome: 'success', details: { version } },
    });
    return { state: toState(row), told: deliveries };
  }
}

function toState({ name, disabled, revision, loads }: StateRow): PluginState {
  return { name, disabled, revision: Number(revision), loads: Number(loads) };
}
