import { Module } from '@nestjs/common';
import { TurnsModule } from '../turns/turns.module.js';
import { AwaitedAnswers } from './awaited-answers.service.js';
import { FeedReader } from './remote/feed-reader.service.js';
import { SessionFeeds } from './remote/session-feeds.service.js';
import { ResumedTurns } from './resumed-turns.service.js';
import { SessionViews } from './session-views.service.js';
import { PastTurns, TurnRecords } from './turn-records.store.js';
import { Viewers } from './viewers.service.js';

/** Lets viewers follow turns: as they run here or on another replica, or afterwards. */
@Module({
  imports: [TurnsModule],
  providers: [
    AwaitedAnswers,
    TurnRecords,
    FeedReader,
    SessionFeeds,
    PastTurns,
    SessionViews,
    ResumedTurns,
    Viewers,
  ],
  exports: [AwaitedAnswers, SessionViews, ResumedTurns, TurnRecords, Viewers],
})
export class LiveModule {}
