import { Module } from '@nestjs/common';
import { AuditStore } from '../../platform/audit-log/audit.store.js';
import { AuditQueries } from './audit-queries.service.js';

/** The audit as operators read it; every area writes it (`src/platform/audit-log`). */
@Module({ providers: [AuditStore, AuditQueries], exports: [AuditQueries] })
export class AuditAreaModule {}
