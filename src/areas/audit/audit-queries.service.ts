import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { type AuditFilter, AuditStore } from '../../platform/audit-log/audit.store.js';
import type { AuditRow } from '../../platform/audit-log/audit-chain.js';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { refuseSomeAgents } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';

const LIST = new KeysetList('audit', ['time', 'number'], ({ at, id }: AuditRow) => [at, id]);

/** The audit as operators read it over HTTP. */
@Injectable()
export class AuditQueries {
  constructor(
    private readonly store: AuditStore,
    private readonly audit: AuditLog,
  ) {}

  /** Newest first. Reading a page is audited itself. Throws `AgentNotAllowed` for a caller for some agents. */
  async list(
    { actor, action, subject, since, ...page }: PageQuery & AuditFilter,
    caller: Caller,
  ): Promise<Page<AuditRow>> {
    refuseSomeAgents('the audit tells', caller);
    // A duration means another moment for each page, so it is not part of what a cursor depends on.
    const filters = [actor, action, subject];
    const filter = { actor, action, subject, since };
    const rows = await this.store.list(filter, page.limit + 1, LIST.after(page, filters));
    const read = { actor, action, subject, since: since?.toISOString() };
    const details = Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
    await this.audit.record({ action: 'audit.read', target: 'audit', outcome: 'success', details });
    return LIST.page(rows, page, filters);
  }
}
