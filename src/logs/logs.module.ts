import { Module } from '@nestjs/common';
import { LogStore } from './log.store.js';
import { LogRetention } from './log-retention.service.js';
import { LogsService } from './logs.service.js';

/** What was logged: kept for a while, listed, and streamed. */
@Module({
  providers: [LogStore, LogsService, LogRetention],
  exports: [LogsService],
})
export class LogsModule {}
