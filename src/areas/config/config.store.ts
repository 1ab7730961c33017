import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import type { SqlRunner, Statement } from '../../platform/database/sql.js';
import type {
  OverrideEdit,
  StoredOverride,
  StoredOverrides,
} from '../../platform/settings/candidate-builder.js';
import type { ConfigAction, ConfigChange, NewConfigChange } from './config-change.js';

interface OverrideRow {
  revision: string;
  key: string | null;
  value: unknown;
  sealed: string | null;
}

interface ChangeRow {
  revision: string;
  action: ConfigAction;
  actor_name: string;
  actor_token_id: string | null;
  changed_at: Date;
  edits: OverrideEdit[];
}

/** Greater than every revision. */
const AFTER_ALL = String(2n ** 63n - 1n);
/** A new change deletes older ones past this number. */
const MAX_CHANGES = 10_000;
/** Longest wait for another replica that is changing the configuration. */
const LOCK_TIMEOUT = '8s';

/** Increases with every stored change. */
export const STORED_REVISION = `(SELECT value::text FROM change_counters WHERE name = 'config')`;

const REVISION: Statement = {
  name: 'config.revision',
  text: `SELECT ${STORED_REVISION} AS revision`,
};
const LOCK: Statement = {
  name: 'config.lock',
  text: `SELECT value FROM change_counters WHERE name = 'config' FOR UPDATE`,
};
const LIMIT_LOCK_WAIT: Statement = {
  name: 'config.limit_lock_wait',
  text: `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true)`,
};
/** One statement, so that revision and overrides belong together. */
const LOAD: Statement = {
  name: 'config.load',
  text: `SELECT c.value::text AS revision, o.key, o.value, o.sealed
         FROM change_counters c LEFT JOIN config_overrides o ON true
         WHERE c.name = 'config' ORDER BY o.key COLLATE "C"`,
};
const DELETE: Statement = {
  name: 'config.delete',
  text: `DELETE FROM config_overrides WHERE key = ANY ($1)`,
};
const UPSERT: Statement = {
  name: 'config.upsert',
  text: `INSERT INTO config_overrides (key, value, sealed)
         SELECT * FROM jsonb_to_recordset($1::jsonb) AS row (key text, value jsonb, sealed text)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, sealed = excluded.sealed`,
};
const BUMP: Statement = {
  name: 'config.bump',
  text: `UPDATE change_counters SET value = value + 1 WHERE name = 'config' RETURNING value::text AS revision`,
};
const RECORD: Statement = {
  name: 'config.record',
  text: `
    WITH recorded AS (
      INSERT INTO config_changes (revision, action, actor_name, actor_token_id, edits)
      VALUES ($1, $2, $3, $4, $5::jsonb) RETURNING revision, action, edits
    )
    ${auditedSql({
      action: `(CASE action WHEN 'patch' THEN 'config.changed' WHEN 'reload' THEN 'config.reloaded' ELSE 'config.rolled_back' END)`,
      ...{ subject: `'configuration'`, origin: '$6', from: 'recorded' },
      details: `jsonb_build_object('revision', revision, 'keys', (SELECT jsonb_agg(edit -> 'key') FROM jsonb_array_elements(edits) AS edit))`,
    })}`,
};
const FORGET: Statement = {
  name: 'config.forget',
  text: `DELETE FROM config_changes WHERE revision <= $1::bigint - ${MAX_CHANGES}`,
};
const PAGE: Statement = {
  name: 'config.page',
  text: `SELECT revision::text, action, actor_name, actor_token_id, changed_at, edits
         FROM config_changes WHERE revision < $1::int8 ORDER BY revision DESC LIMIT $2`,
};
const SINCE: Statement = {
  name: 'config.since',
  text: `SELECT revision::text, action, actor_name, actor_token_id, changed_at, edits
         FROM config_changes WHERE revision > $1 ORDER BY revision DESC`,
};

const NEWEST_UNDOABLE: Statement = {
  name: 'config.newest_undoable',
  text: `SELECT revision::text, action, actor_name, actor_token_id, changed_at, edits
         FROM config_changes WHERE action <> 'reload' ORDER BY revision DESC LIMIT 1`,
};

/** The statements of configuration overrides and their history. */
export class ConfigStore {
  constructor(private readonly database: SqlRunner) {}

  /** Increases with every change of any replica. */
  async revision(): Promise<string> {
    const [row] = await this.database.query<{ revision: string }>(REVISION);
    return row?.revision ?? '';
  }

  async load(runner: SqlRunner = this.database): Promise<StoredOverrides> {
    const rows = await runner.query<OverrideRow>(LOAD);
    return { revision: rows[0]?.revision ?? '', rows: rows.flatMap((row) => toOverride(row) ?? []) };
  }

  /** Locks out changes by all replicas until the transaction ends. Throws `Unavailable` after 8 s of waiting. */
  async lock(runner: SqlRunner): Promise<void> {
    await runner.query(LIMIT_LOCK_WAIT);
    await runner.query(LOCK);
  }

  /** Applies the edits to the overrides and records the change. @returns the new revision */
  async write(runner: SqlRunner, change: NewConfigChange): Promise<string> {
    if (change.action !== 'reload') await applyEdits(runner, change.edits);
    const [row] = await runner.query<{ revision: string }>(BUMP);
    const revision = row?.revision ?? '';
    const { name, tokenId } = change.actor;
    const edits = JSON.stringify(change.edits);
    await runner.query(RECORD, [revision, change.action, name, tokenId, edits, originJson()]);
    await runner.query(FORGET, [revision]);
    return revision;
  }

  /** The newest changes, or the newest before a revision; newest first. */
  async page(most: number, before = AFTER_ALL): Promise<readonly ConfigChange[]> {
    return (await this.database.query<ChangeRow>(PAGE, [before, most])).map(toChange);
  }

  /** Every change after a revision, newest first. */
  async changesAfter(revision: bigint, runner: SqlRunner): Promise<readonly ConfigChange[]> {
    return (await runner.query<ChangeRow>(SINCE, [revision])).map(toChange);
  }

  async newestUndoable(runner: SqlRunner): Promise<ConfigChange | undefined> {
    const [row] = await runner.query<ChangeRow>(NEWEST_UNDOABLE);
    return row && toChange(row);
  }
}

async function applyEdits(runner: SqlRunner, edits: readonly OverrideEdit[]): Promise<void> {
  const gone = edits.filter(({ after }) => after === null).map(({ key }) => key);
  const set = edits.flatMap(({ key, after }) => (after === null ? [] : { key, ...after }));
  if (gone.length > 0) await runner.query(DELETE, [gone]);
  if (set.length > 0) await runner.query(UPSERT, [JSON.stringify(set)]);
}

function toOverride({ key, value, sealed }: OverrideRow): StoredOverride | undefined {
  if (key === null) return undefined;
  return { key, content: sealed === null ? { value } : { sealed } };
}

function toChange(row: ChangeRow): ConfigChange {
  const { revision, action, edits } = row;
  const actor = { name: row.actor_name, tokenId: row.actor_token_id };
  return { revision, action, actor, edits, changedAt: row.changed_at };
}
