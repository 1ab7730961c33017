import type { Database } from '../database/database.js';
import type { SecretBox } from '../secrets/secret-box.js';
import { findHead } from './audit.sql.js';
import { type AuditFilter, AuditStore, NEWEST } from './audit.store.js';
import type { AuditHead, AuditRow } from './audit-chain.js';
import { checkExport, exportedHead, exportedRow } from './audit-export.js';
import type { AuditLog } from './audit-log.js';
import { sealAll } from './audit-seals.js';
import { countSealed, readChain, type Verification, verifyAudit } from './audit-verifier.js';

type ShowProgress = (done: number, all: number) => void;

/** Where a head to compare with may come from. */
interface KnownHeads {
  readonly head?: AuditHead | undefined;
  /** An exported file. */
  readonly file?: string | undefined;
}

/** What operators can do with the audit; each of these actions is audited itself. */
export class AuditAdmin {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
    private readonly openBox: () => Promise<SecretBox>,
  ) {}

  /** Newest first. */
  async list(filter: AuditFilter, limit: number): Promise<readonly AuditRow[]> {
    const rows = await new AuditStore(this.database).list(filter, limit, NEWEST);
    const { since, ...texts } = filter;
    await this.note('audit.read', { ...texts, ...(since && { since: since.toISOString() }) });
    return rows;
  }

  /** The whole chain as NDJSON, oldest first, with its head as the last line. @returns the head */
  async exportTo(write: (line: string) => void, progress: ShowProgress): Promise<AuditHead> {
    await sealAll(this.database);
    const all = await countSealed(this.database);
    let head = await findHead(this.database);
    let done = 0;
    for await (const page of readChain(this.database)) {
      for (const row of page) write(exportedRow(row));
      head = page.at(-1) ?? head;
      done += page.length;
      progress(done, all);
    }
    const { sequence, hash } = head;
    write(exportedHead({ sequence, hash }));
    await this.note('audit.exported', { sequence, hash });
    return { sequence, hash };
  }

  async verify({ head, file }: KnownHeads, progress: ShowProgress): Promise<Verification> {
    const fromFile = file === undefined ? [] : [await checkExport(file)];
    const heads = head === undefined ? fromFile : [...fromFile, head];
    await sealAll(this.database);
    const verified = await verifyAudit(this.database, { heads, box: await this.openBox(), progress });
    const { problems, rows } = verified;
    await this.note('audit.verified', { problems: problems.length, rows });
    return verified;
  }

  private note(action: string, details: Readonly<Record<string, unknown>>): Promise<void> {
    return this.audit.write(this.database, { action, target: 'audit', outcome: 'success', details });
  }
}
