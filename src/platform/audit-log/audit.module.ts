import { Global, Module } from '@nestjs/common';
import { AuditKeeper } from './audit-keeper.service.js';
import { AuditLog } from './audit-log.js';
import { AuditRetention } from './audit-retention.service.js';

/** The record of who did what, for every area. */
@Global()
@Module({ providers: [AuditLog, AuditKeeper, AuditRetention], exports: [AuditLog] })
export class AuditModule {}
