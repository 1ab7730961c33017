import { Injectable } from '@nestjs/common';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import {
  arrayOf,
  bigint,
  jsonb,
  nullable,
  oneOf,
  orNull,
  type RowOf,
  text,
} from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { dueQuestion } from '../../platform/runtime/due-question.js';
import type {
  OverrideEdit,
  StoredOverride,
  StoredOverrides,
} from '../../platform/settings/candidate-builder.js';
import { ConfigChangeEntity, ConfigOverrideEntity } from './config.entities.js';
import type { ConfigAction, ConfigChange, NewConfigChange } from './config-change.js';

/** Greater than every revision. */
const AFTER_ALL = String(2n ** 63n - 1n);
/** A new change deletes older ones past this number. */
const MAX_CHANGES = 10_000;
/** Longest wait for another replica that is changing the configuration. */
const LOCK_TIMEOUT = '8s';

/** Increases with every stored change. */
export const STORED_REVISION = dueQuestion({
  name: 'config_revision',
  params: {},
  answer: text,
  sql: `(SELECT value::text FROM change_counters WHERE name = 'config')`,
});

const LOCK = statement({
  name: 'config.lock',
  params: {},
  row: { value: bigint },
  sql: `SELECT value FROM change_counters WHERE name = 'config' FOR UPDATE`,
});
const LIMIT_LOCK_WAIT = statement({
  name: 'config.limit_lock_wait',
  params: {},
  row: { set_config: text },
  sql: `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true)`,
});
/** One statement, so that revision and overrides belong together. */
const LOAD = statement({
  name: 'config.load',
  params: {},
  row: {
    revision: text,
    ...orNull(columnsOf(ConfigOverrideEntity, 'key', 'sealed')),
    value: jsonb<unknown>(),
  },
  sql: `SELECT c.value::text AS revision, o.key, o.value, o.sealed
         FROM change_counters c LEFT JOIN config_overrides o ON true
         WHERE c.name = 'config' ORDER BY o.key COLLATE "C"`,
});
const DELETE = statement({
  name: 'config.delete',
  params: { keys: arrayOf(text) },
  row: {},
  sql: `DELETE FROM config_overrides WHERE key = ANY (:keys)`,
});
const UPSERT = statement({
  name: 'config.upsert',
  params: { rows: jsonb<unknown>() },
  row: {},
  sql: `INSERT INTO config_overrides (key, value, sealed)
         SELECT * FROM jsonb_to_recordset(:rows::jsonb) AS row (key text, value jsonb, sealed text)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, sealed = excluded.sealed`,
});
const BUMP = statement({
  name: 'config.bump',
  params: {},
  row: { revision: text },
  sql: `UPDATE change_counters SET value = value + 1 WHERE name = 'config' RETURNING value::text AS revision`,
});
const RECORD = statement({
  name: 'config.record',
  params: {
    revision: bigint,
    action: oneOf<ConfigAction>(),
    actor: text,
    actor_token: nullable(text),
    edits: jsonb<unknown>(),
    origin: jsonb<unknown>(),
  },
  row: {},
  sql: `
    WITH recorded AS (
      INSERT INTO config_changes (revision, action, actor_name, actor_token_id, edits)
      VALUES (:revision, :action, :actor, :actor_token, :edits::jsonb) RETURNING revision, action, edits
    )
    ${auditedSql({
      action: `(CASE action WHEN 'patch' THEN 'config.changed' WHEN 'reload' THEN 'config.reloaded' ELSE 'config.rolled_back' END)`,
      ...{ subject: `'configuration'`, origin: ':origin', from: 'recorded' },
      details: `jsonb_build_object('revision', revision, 'keys', (SELECT jsonb_agg(edit -> 'key') FROM jsonb_array_elements(edits) AS edit))`,
    })}`,
});
const FORGET = statement({
  name: 'config.forget',
  params: { revision: bigint },
  row: {},
  sql: `DELETE FROM config_changes WHERE revision <= :revision::bigint - ${MAX_CHANGES}`,
});
const CHANGE = {
  ...columnsOf(ConfigChangeEntity, 'actorName', 'actorTokenId', 'changedAt'),
  ...{ revision: text, action: oneOf<ConfigAction>(), edits: jsonb<OverrideEdit[]>() },
};
const CHANGES =
  'SELECT revision::text, action, actor_name, actor_token_id, changed_at, edits FROM config_changes';
const PAGE = statement({
  name: 'config.page',
  params: { before: bigint, most: bigint },
  row: CHANGE,
  sql: `${CHANGES} WHERE revision < :before::int8 ORDER BY revision DESC LIMIT :most`,
});
const SINCE = statement({
  name: 'config.since',
  params: { revision: bigint },
  row: CHANGE,
  sql: `${CHANGES} WHERE revision > :revision ORDER BY revision DESC`,
});

const NEWEST_UNDOABLE = statement({
  name: 'config.newest_undoable',
  params: {},
  row: CHANGE,
  sql: `${CHANGES} WHERE action <> 'reload' ORDER BY revision DESC LIMIT 1`,
});

/** The statements of configuration overrides and their history. */
@Injectable()
export class ConfigStore {
  constructor(private readonly database: Database) {}

  async load(runner: SqlRunner = this.database): Promise<StoredOverrides> {
    const rows = await runner.query(LOAD);
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
    const [row] = await runner.query(BUMP);
    const revision = row?.revision ?? '';
    const { name, tokenId } = change.actor;
    const edits = JSON.stringify(change.edits);
    await runner.query(RECORD, {
      ...{ revision, action: change.action, actor: name, actor_token: tokenId },
      ...{ edits, origin: originJson() },
    });
    await runner.query(FORGET, { revision });
    return revision;
  }

  /** The newest changes, or the newest before a revision; newest first. */
  async page(most: number, before = AFTER_ALL): Promise<readonly ConfigChange[]> {
    return (await this.database.query(PAGE, { before, most })).map(toChange);
  }

  /** Every change after a revision, newest first. */
  async changesAfter(revision: bigint, runner: SqlRunner): Promise<readonly ConfigChange[]> {
    return (await runner.query(SINCE, { revision })).map(toChange);
  }

  async newestUndoable(runner: SqlRunner): Promise<ConfigChange | undefined> {
    const [row] = await runner.query(NEWEST_UNDOABLE);
    return row && toChange(row);
  }
}

async function applyEdits(runner: SqlRunner, edits: readonly OverrideEdit[]): Promise<void> {
  const gone = edits.filter(({ after }) => after === null).map(({ key }) => key);
  const set = edits.flatMap(({ key, after }) => (after === null ? [] : { key, ...after }));
  if (gone.length > 0) await runner.query(DELETE, { keys: gone });
  if (set.length > 0) await runner.query(UPSERT, { rows: JSON.stringify(set) });
}

function toOverride({ key, value, sealed }: RowOfStatement<typeof LOAD>): StoredOverride | undefined {
  if (key === null) return undefined;
  return { key, content: sealed === null ? { value } : { sealed } };
}

function toChange(row: RowOf<typeof CHANGE>): ConfigChange {
  const { revision, action, edits } = row;
  const actor = { name: row.actor_name, tokenId: row.actor_token_id };
  return { revision, action, actor, edits, changedAt: row.changed_at };
}
