import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { bigint, boolean, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { EventSignal, EventStore } from '../../platform/events/event.store.js';
import { dueQuestion } from '../../platform/runtime/due-question.js';
import { PluginStateEntity } from './plugin-state.entity.js';

/** The state of a plugin on all replicas. */
export interface PluginState {
  readonly name: string;
  readonly disabled: boolean;
  /** Incremented by every change. */
  readonly revision: number;
  /** Incremented by every reload. */
  readonly loads: number;
}

export interface PluginChange {
  readonly name: string;
  readonly version: string;
  readonly action: 'enable' | 'disable' | 'reload';
  /** The name of the token. */
  readonly actor: string;
}

/** How the audit names a change. */
const DONE = {
  enable: 'plugin.enabled',
  disable: 'plugin.disabled',
  reload: 'plugin.reloaded',
} as const satisfies Record<PluginChange['action'], string>;

/** Changes whenever any plugin's state does. */
export const STATES_REVISION = dueQuestion({
  name: 'plugins_revision',
  params: {},
  answer: text,
  sql: '(SELECT coalesce(sum(revision), 0)::text FROM plugin_states)',
});

const CHANGE = statement({
  name: 'plugin_states.change',
  params: { name: text, disabled: boolean, loads: bigint },
  row: { name: text, disabled: boolean, revision: text, loads: text },
  sql: `
    INSERT INTO plugin_states AS state (name, disabled, revision, loads) VALUES (:name, :disabled, 1, :loads)
    ON CONFLICT (name) DO UPDATE SET disabled = excluded.disabled, revision = state.revision + 1,
      loads = state.loads + excluded.loads
    RETURNING name, disabled, revision::text, loads::text`,
});

/** Which plugins are disabled or were reloaded, in the database so that it holds on all replicas and after restarts. */
@Injectable()
export class PluginStates {
  constructor(
    private readonly database: Database,
    @InjectRepository(PluginStateEntity) private readonly states: Repository<PluginStateEntity>,
    private readonly events: EventStore,
    private readonly signal: EventSignal,
    private readonly audit: AuditLog,
  ) {}

  async all(): Promise<ReadonlyMap<string, PluginState>> {
    const states = await this.database.answered(this.states.find());
    return new Map(states.map((state) => [state.name, toState(state)]));
  }

  /** Stores the change, its event and its audit entry in one transaction. */
  async change(change: PluginChange): Promise<PluginState> {
    const { state, deliveries } = await this.database.transaction((runner) => this.write(runner, change));
    this.signal.queued(deliveries);
    return state;
  }

  /** Audits an attempt that failed and changed nothing. */
  async recordFailure({
    name,
    action,
    actor,
    reason,
  }: Omit<PluginChange, 'version'> & { reason: string }): Promise<void> {
    const entry = { action: DONE[action], actor, target: name, outcome: 'error', details: { reason } };
    await this.audit.record(entry);
  }

  private async write(runner: SqlRunner, { name, version, action, actor }: PluginChange) {
    const isDisabled = action === 'disable';
    const change = { name, disabled: isDisabled, loads: action === 'reload' ? 1 : 0 };
    const [row] = await runner.query(CHANGE, change);
    if (row === undefined) throw new Error('The state of a plugin was not written.');
    const event = isDisabled ? ('plugin.disabled' as const) : ('plugin.loaded' as const);
    const deliveries = await this.events.emit(runner, { name: event, userId: null, data: { name, version } });
    await this.audit.write(runner, {
      ...{ action: DONE[action], actor, target: name, outcome: 'success', details: { version } },
    });
    return { state: toState(row), deliveries };
  }
}

function toState({ name, disabled, revision, loads }: PluginStateEntity): PluginState {
  return { name, disabled, revision: Number(revision), loads: Number(loads) };
}
