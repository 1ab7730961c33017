import { Module } from '@nestjs/common';
import { IdentityModule } from '../../platform/identity/identity.module.js';
import { LogStore } from '../../platform/logging/log.store.js';
import { LogRetention } from '../../platform/logging/log-retention.service.js';
import { EntryFormatB } from './profile-b/log.views.js';
import { LogsHandlersB } from './profile-b/logs.controller.js';
import { LogStreams } from './stream/log-streams.service.js';
import { LogTail } from './stream/log-tail.service.js';
import { EntryFormat } from './stream/sse-frames.js';

/** What was logged: stored for a while, listed, and streamed (in Profile B only). */
@Module({
  imports: [IdentityModule],
  providers: [
    LogStore,
    LogRetention,
    LogTail,
    LogStreams,
    LogsHandlersB,
    { provide: EntryFormat, useClass: EntryFormatB },
  ],
  exports: [LogStore, LogStreams, LogsHandlersB],
})
export class LogsModule {}
