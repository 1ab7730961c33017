import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { AuditRetention } from './audit-retention.service.js';

/** The record of who did what, for every area. */
@Global()
@Module({ providers: [AuditLog, AuditRetention], exports: [AuditLog] })
export class AuditModule {}
