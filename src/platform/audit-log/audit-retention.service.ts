import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { SqlRunner, Statement } from '../database/sql.js';
import { type Logger, Logs } from '../logging/logger.js';
import { BatchedJob } from '../runtime/batched-job.js';
import { SecretBox } from '../secrets/secret-box.js';
import { Settings } from '../settings/settings.js';
import { signCheckpoint } from './audit-checkpoint.js';
import { holdsChain } from './audit-seals.js';

const INTERVAL_MS = 600_000;
const MAX_AT_ONCE = 1000;

const OLDEST: Statement = {
  name: 'audit_entries.oldest',
  text: `
    SELECT s.sequence::float8, encode(s.hash, 'hex') AS hash, s.entry_id::text,
      coalesce(e.happened_at < now() - make_interval(days => $1), true) AS old, e.id IS NULL AS missing
    FROM audit_seals AS s LEFT JOIN audit_entries AS e ON e.id = s.entry_id
    ORDER BY s.sequence LIMIT $2`,
};
const CHECKPOINT: Statement = {
  name: 'audit_entries.checkpoint',
  text: `
    WITH earlier AS (DELETE FROM audit_checkpoints WHERE sequence < $1)
    INSERT INTO audit_checkpoints (sequence, hash, signature) VALUES ($1, decode($2, 'hex'), $3)`,
};
const TRIM: Statement = {
  name: 'audit_entries.trim',
  text: `
    WITH gone AS (DELETE FROM audit_seals WHERE sequence <= $1 RETURNING entry_id)
    DELETE FROM audit_entries USING gone WHERE id = gone.entry_id`,
};

interface OldestRow {
  sequence: number;
  hash: string;
  entry_id: string;
  old: boolean;
  missing: boolean;
}

/** Deletes audit entries that are older than they are to be kept, from the beginning of the chain, and leaves a checkpoint. */
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
      const oldest = await runner.query<OldestRow>(OLDEST, [days, MAX_AT_ONCE]);
      const firstKept = oldest.findIndex(({ old }) => !old);
      const old = firstKept === -1 ? oldest : oldest.slice(0, firstKept);
      await this.forget(runner, old);
      return old.length === MAX_AT_ONCE;
    });
  }

  private async forget(runner: SqlRunner, old: readonly OldestRow[]): Promise<void> {
    const last = old.findLast(({ missing }) => !missing);
    if (last === undefined) return;
    const removed = old.filter(({ missing, sequence }) => missing && sequence < last.sequence);
    if (removed.length > 0) {
      const sequences = removed.map(({ sequence }) => sequence);
      this.logger.error('rows of the audit were removed before their time', { sequences });
    }
    const signature = signCheckpoint(this.box, last);
    await runner.query(CHECKPOINT, [last.sequence, last.hash, signature]);
    await runner.query(TRIM, [last.sequence]);
  }
}
