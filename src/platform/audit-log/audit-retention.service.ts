import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { SqlRunner } from '../database/sql.js';
import { bigint, boolean, double, integer, text } from '../database/sql-types.js';
import { type RowOfStatement, statement } from '../database/statement.js';
import { type Logger, Logs } from '../logging/logger.js';
import { BatchedJob } from '../runtime/batched-job.js';
import { SecretBox } from '../secrets/secret-box.js';
import { Settings } from '../settings/settings.js';
import { signCheckpoint } from './audit-chain.js';
import { holdsChain } from './audit-seals.js';

const INTERVAL_MS = 600_000;
const MAX_AT_ONCE = 1000;

const OLDEST = statement({
  name: 'audit_entries.oldest',
  params: { days: integer, most: bigint },
  row: { sequence: double, hash: text, old: boolean, missing: boolean },
  sql: `
    SELECT s.sequence::float8, encode(s.hash, 'hex') AS hash,
      coalesce(e.happened_at < now() - make_interval(days => :days), true) AS old, e.id IS NULL AS missing
    FROM audit_seals AS s LEFT JOIN audit_entries AS e ON e.id = s.entry_id
    ORDER BY s.sequence LIMIT :most`,
});
const CHECKPOINT = statement({
  name: 'audit_entries.checkpoint',
  params: { sequence: bigint, hash: text, signature: text },
  row: {},
  sql: `
    WITH earlier AS (DELETE FROM audit_checkpoints WHERE sequence < :sequence)
    INSERT INTO audit_checkpoints (sequence, hash, signature) VALUES (:sequence, decode(:hash, 'hex'), :signature)`,
});
const TRIM = statement({
  name: 'audit_entries.trim',
  params: { last: bigint },
  row: {},
  sql: `
    WITH gone AS (DELETE FROM audit_seals WHERE sequence <= :last RETURNING entry_id)
    DELETE FROM audit_entries USING gone WHERE id = gone.entry_id`,
});

/** Deletes audit entries after their retention, from the beginning of the chain, and leaves a checkpoint. */
@Injectable()
export class AuditRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;
  private readonly logger: Logger;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly box: SecretBox,
    logs: Logs,
  ) {
    this.logger = logs.for('audit');
    this.job = new BatchedJob({
      failure: 'old audit entries could not be deleted',
      everyMs: INTERVAL_MS,
      logger: this.logger,
      batch: () => this.trim(),
    });
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }

  private trim(): Promise<boolean> {
    return this.database.transaction(async (runner) => {
      if (!(await holdsChain(runner))) return false;
      const { audit_retention_days: days } = this.settings.current.security;
      const oldest = await runner.query(OLDEST, { days, most: MAX_AT_ONCE });
      const firstKept = oldest.findIndex(({ old }) => !old);
      const old = firstKept === -1 ? oldest : oldest.slice(0, firstKept);
      await this.forget(runner, old);
      return old.length === MAX_AT_ONCE;
    });
  }

  private async forget(runner: SqlRunner, old: readonly RowOfStatement<typeof OLDEST>[]): Promise<void> {
    const last = old.findLast(({ missing }) => !missing);
    if (last === undefined) return;
    const removed = old.filter(({ missing, sequence }) => missing && sequence < last.sequence);
    if (removed.length > 0) {
      const sequences = removed.map(({ sequence }) => sequence);
      this.logger.error('rows of the audit were removed before their retention ended', { sequences });
    }
    const signature = signCheckpoint(this.box, last);
    await runner.query(CHECKPOINT, { sequence: last.sequence, hash: last.hash, signature });
    await runner.query(TRIM, { last: last.sequence });
  }
}
