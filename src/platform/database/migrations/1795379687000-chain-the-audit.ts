import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ENTRY_COLUMNS, type EntryRow, toRow } from '../../audit-log/audit.sql.js';
import { CHAIN_START, nextHash } from '../../audit-log/audit-chain.js';

const ROWS_AT_ONCE = 2000;

/** Actions as they were written before, and their new names: a noun and a past participle. */
const RENAMED: readonly (readonly [before: string, now: string])[] = [
  ['token.create', 'token.created'],
  ['token.revoke', 'token.revoked'],
  ['token.limit', 'token.limited'],
  ['tool.call', 'tool.called'],
  ['tool.approval', 'approval.decided'],
  ['tool.quarantine', 'tool.quarantined'],
  ['tool.approve', 'tool.approved'],
  ['memory.forget', 'memory.forgotten'],
  ['plugin.enable', 'plugin.enabled'],
  ['plugin.disable', 'plugin.disabled'],
  ['plugin.reload', 'plugin.reloaded'],
];

/**
 * Chains the audit by hashes. Rows are never updated, so their places in the chain are rows of their own, and a trigger
 * notes which rows still wait for one. Older rows are renamed, lose the arguments of tools, and are sealed here.
 */
export class ChainTheAudit1795379687000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_entries ADD COLUMN address text');
    for (const [before, now] of RENAMED)
      await runner.query('UPDATE audit_entries SET action = $2 WHERE action = $1', [before, now]);
    await runner.query(
      `UPDATE audit_entries SET details = details - 'arguments' WHERE details ? 'arguments'`,
    );
    await this.createTables(runner);
    await this.sealAll(runner);
    await this.createTriggers(runner);
    await this.createIndexes(runner);
    await this.replaceEmitEvent(runner, true);
  }

  private async createTables(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_seals (
        sequence bigint PRIMARY KEY,
        entry_id bigint NOT NULL,
        hash     bytea NOT NULL
      )`);
    await runner.query('CREATE UNIQUE INDEX audit_seals_of_entry ON audit_seals (entry_id)');
    await runner.query('CREATE TABLE audit_unsealed (entry_id bigint PRIMARY KEY)');
    await runner.query(`
      CREATE TABLE audit_checkpoints (
        sequence  bigint PRIMARY KEY,
        hash      bytea NOT NULL,
        signature text NOT NULL,
        made_at   timestamptz(3) NOT NULL DEFAULT now()
      )`);
  }

  /** Until this transaction ends, the previous version waits with its entries; the trigger then notes them. */
  private async sealAll(runner: QueryRunner): Promise<void> {
    await runner.query('LOCK TABLE audit_entries IN SHARE ROW EXCLUSIVE MODE');
    let { sequence, hash } = CHAIN_START;
    for (let after = '0'; ; ) {
      const rows = (await runner.query(
        `SELECT ${ENTRY_COLUMNS} FROM audit_entries AS e WHERE e.id > $1 ORDER BY e.id LIMIT ${ROWS_AT_ONCE}`,
        [after],
      )) as EntryRow[];
      const seals = rows.map((row) => {
        hash = nextHash(hash, toRow(row));
        sequence += 1;
        return { sequence, entry_id: row.id, hash };
      });
      await runner.query(
        `INSERT INTO audit_seals (sequence, entry_id, hash)
         SELECT sequence, entry_id, decode(hash, 'hex')
         FROM json_to_recordset($1::json) AS row (sequence int8, entry_id int8, hash text)`,
        [JSON.stringify(seals)],
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }

  private async createTriggers(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION note_unsealed_audit() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO audit_unsealed (entry_id) SELECT id FROM written;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER note_unsealed_audit AFTER INSERT ON audit_entries
      REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION note_unsealed_audit()`);
    await runner.query(`
      CREATE FUNCTION refuse_audit_update() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'Rows of the audit are never changed.';
      END $$`);
    for (const table of ['audit_entries', 'audit_seals'])
      await runner.query(`
        CREATE TRIGGER refuse_audit_update BEFORE UPDATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_update()`);
  }

  /** Newest first, over all rows and for each filter. */
  private async createIndexes(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX audit_entries_happened');
    await runner.query('CREATE INDEX audit_entries_happened ON audit_entries (happened_at, id)');
    for (const column of ['actor', 'action', 'target'])
      await runner.query(
        `CREATE INDEX audit_entries_by_${column} ON audit_entries (${column}, happened_at, id)`,
      );
  }

  /** Only hooks that name the audit get it: hooks for everything were meant for the events of sessions and channels. */
  private async replaceEmitEvent(runner: QueryRunner, keepsAuditApart: boolean): Promise<void> {
    const all = `ARRAY[event_name, split_part(event_name, '.', 1) || '.*', '*']`;
    const names = keepsAuditApart
      ? `CASE WHEN event_name LIKE 'audit.%' THEN ARRAY[event_name, 'audit.*'] ELSE ${all} END`
      : all;
    await runner.query(`
      CREATE OR REPLACE FUNCTION emit_event(event_name text, event_user text, event_data json) RETURNS integer
      LANGUAGE plpgsql VOLATILE AS $$
      DECLARE
        new_id text;
        told integer;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM hooks WHERE active) THEN
          RETURN 0;
        END IF;
        new_id := new_event_id();
        INSERT INTO hook_deliveries (hook_id, event_id, event)
        SELECT id, new_id, wanted
        FROM (
          SELECT id, CASE
            WHEN events && ${names} THEN event_name
            WHEN event_name = 'session.terminated' AND 'session.completed' = ANY (events) THEN 'session.completed'
          END AS wanted
          FROM hooks WHERE active AND (user_id IS NULL OR user_id = event_user)
        ) AS subscribed
        WHERE wanted IS NOT NULL;
        GET DIAGNOSTICS told = ROW_COUNT;
        IF told > 0 THEN
          INSERT INTO events (id, name, occurred_at, data)
          VALUES (new_id, event_name, clock_timestamp(), event_data);
        END IF;
        RETURN told;
      END $$`);
  }

  /** The arguments of tools do not come back. */
  async down(runner: QueryRunner): Promise<void> {
    await this.replaceEmitEvent(runner, false);
    for (const column of ['actor', 'action', 'target'])
      await runner.query(`DROP INDEX audit_entries_by_${column}`);
    await runner.query('DROP INDEX audit_entries_happened');
    await runner.query('CREATE INDEX audit_entries_happened ON audit_entries (happened_at)');
    await runner.query('DROP TRIGGER note_unsealed_audit ON audit_entries');
    await runner.query('DROP TRIGGER refuse_audit_update ON audit_entries');
    await runner.query('DROP TABLE audit_checkpoints, audit_unsealed, audit_seals');
    await runner.query('DROP FUNCTION note_unsealed_audit()');
    await runner.query('DROP FUNCTION refuse_audit_update()');
    for (const [before, now] of RENAMED)
      await runner.query('UPDATE audit_entries SET action = $1 WHERE action = $2', [before, now]);
    await runner.query('ALTER TABLE audit_entries DROP COLUMN address');
  }
}
