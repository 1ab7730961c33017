import { Module } from '@nestjs/common';
import { LogStore } from '../../platform/logging/log.store.js';
import { LogRetention } from '../../platform/logging/log-retention.service.js';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { LogsService } from './logs.service.js';
import { EntryFormatB } from './profile-b/entry-format.js';
import { LogsHandlersB } from './profile-b/logs.handlers.js';
import { EntryFormat } from './stream/entry-format.port.js';
import { LogStreams } from './stream/log-streams.service.js';
import { LogTail } from './stream/log-tail.service.js';

/** What was logged: kept for a while, listed, and streamed (which only Profile B does). */
@Module({
  imports: [TokensModule],
  providers: [
    LogStore,
    LogsService,
    LogRetention,
    LogTail,
    LogStreams,
    LogsHandlersB,
    { provide: EntryFormat, useClass: EntryFormatB },
  ],
  exports: [LogsService, LogStreams, LogsHandlersB],
})
export class LogsModule {}
