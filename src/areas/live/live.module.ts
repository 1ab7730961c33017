import { Module } from '@nestjs/common';
import { TurnsModule } from '../turns/turns.module.js';
import { FeedReader } from './remote/feed-reader.service.js';
import { SessionFeeds } from './remote/session-feeds.service.js';
import { ResumedTurns } from './resumed-turns.service.js';
import { SessionViews } from './session-views.service.js';
import { PastTurns, TurnRecords } from './turn-records.store.js';
import { Viewers } from './viewers.service.js';

/** What running turns say, for those who follow them: here, from another replica, or later. */
@Module({
  imports: [TurnsModule],
  providers: [TurnRecords, FeedReader, SessionFeeds, PastTurns, SessionViews, ResumedTurns, Viewers],
  exports: [SessionViews, ResumedTurns, TurnRecords, Viewers],
})
export class LiveModule {}
