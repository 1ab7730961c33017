import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { bigint, boolean, double, integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { BatchedJob } from '../../platform/runtime/batched-job.js';
import { dueQuestion } from '../../platform/runtime/due-question.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { Poller } from '../../platform/runtime/poller.js';
import { Settings } from '../../platform/settings/settings.js';
import {
  ANY_FRAMES,
  ANY_LOST,
  ANY_QUEUE_EXPIRED,
  RemoteTurnsStore,
  TurnEndingsStore,
} from '../turns/turns.api.js';
import { anyInactive, type InactiveSession, SessionStore, TALLY_ROWS } from './session.store.js';
import { idleLimits } from './session-status.js';

const SWEEP_MS = 1000;
const MAX_AT_ONCE = 1000;
const MAX_TALLY_ROWS = 256;
const FORGET_MS = 3_600_000;
const FORGET_FRAMES_MS = 10_000;

/** Whether there is work for a sweep, apart from what may wait longer. */
const ANY_TO_SWEEP = dueQuestion({
  name: 'sessions_to_sweep',
  params: { sweepIdleSecs: double, sweepTimeoutSecs: double },
  answer: boolean,
  sql: `(${anyInactive(':sweepIdleSecs', ':sweepTimeoutSecs')} OR ${ANY_LOST} OR ${ANY_QUEUE_EXPIRED}
    OR ${TALLY_ROWS} > ${MAX_TALLY_ROWS})`,
});

/**
 * Records what the passing of time has done: silent sessions become idle and end, turns of a lost replica are closed, the
 * tally is folded. Reads are correct without it, but it keeps them cheap. Any number of replicas may sweep.
 */
@Injectable()
export class SessionSweeper implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private areMoreLeft = false;
  private readonly poller = new Poller({
    everyMs: () => (this.areMoreLeft ? 0 : Number.POSITIVE_INFINITY),
    look: () => this.sweep(),
    failed: (error) =>
      this.logger.warn('sessions could not be swept; sweeping resumes when the database answers', {
        error: String(error),
      }),
  });
  private forgotAt = Number.NEGATIVE_INFINITY;
  private areFramesDue = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly turns: TurnEndingsStore,
    private readonly remote: RemoteTurnsStore,
    private readonly settings: Settings,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions::sweeper');
  }

  onModuleInit(): void {
    this.due.watch({
      question: ANY_TO_SWEEP,
      everyMs: SWEEP_MS,
      params: () => {
        const { idleSecs, timeoutSecs } = idleLimits(this.settings.current.agent);
        return { sweepIdleSecs: idleSecs, sweepTimeoutSecs: timeoutSecs };
      },
      onAnswer: (any) => {
        if (any !== false || this.poller.isFailing || this.isSpendingDue) this.wake();
      },
    });
    this.due.watch({
      question: ANY_FRAMES,
      everyMs: FORGET_FRAMES_MS,
      onAnswer: (any) => {
        this.areFramesDue ||= any !== false;
        if (this.areFramesDue) this.wake();
      },
    });
    this.poller.start(Number.POSITIVE_INFINITY);
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
  }

  /** Two answers in one moment, or one during a long sweep, do not make it sweep twice. */
  private wake(): void {
    if (!this.poller.isLooking) this.poller.wake();
  }

  private get isSpendingDue(): boolean {
    return performance.now() - this.forgotAt >= FORGET_MS;
  }

  private async sweep(): Promise<void> {
    this.areMoreLeft = false;
    for (const { id, session_id, status: outcome, reason } of await this.turns.recover()) {
      const fields = { session_id, turn_id: id, outcome, reason };
      if (outcome === 'cancelled')
        this.logger.info(`turn cancelled in session ${session_id}: its session was ended`, fields);
      else this.logger.warn(`turn interrupted in session ${session_id}: its lease ran out`, fields);
    }
    const limits = idleLimits(this.settings.current.agent);
    const changed = await this.sessions.recordInactivity(limits, MAX_AT_ONCE);
    for (const session of changed) if (session.ended) this.logEnded(session);
    await this.sessions.foldTally(MAX_TALLY_ROWS);
    await this.forgetFrames();
    await this.forgetSpending();
    this.areMoreLeft = changed.length === MAX_AT_ONCE;
  }

  private logEnded({ id, channel }: InactiveSession): void {
    const fields = { session_id: id, channel, reason: 'timeout' };
    this.logger.info(`session ${id} ended on channel ${channel}: it was idle for too long`, fields);
  }

  private async forgetFrames(): Promise<void> {
    if (!this.areFramesDue) return;
    await this.remote.forget();
    this.areFramesDue = false;
  }

  private async forgetSpending(): Promise<void> {
    if (!this.isSpendingDue) return;
    await this.turns.forgetSpending();
    this.forgotAt = performance.now();
  }
}

const TRIM_MS = 60_000;
/** Each may have thousands of messages, which are deleted with it. */
const MAX_TRIMMED = 50;

const TRIM = statement({
  name: 'sessions.trim',
  params: { days: integer, most: bigint },
  row: { id: text },
  sql: `
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE status = 'terminated' AND ended_at < now() - make_interval(days => :days)
      ORDER BY ended_at LIMIT :most FOR UPDATE SKIP LOCKED)
    RETURNING id`,
});

/** Deletes sessions that ended longer ago than `agent.session_retention_days`, with their messages and turns. */
@Injectable()
export class SessionRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(database: Database, settings: Settings, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old sessions could not be deleted',
      everyMs: TRIM_MS,
      logger: logs.for('sessions::retention'),
      batch: async () => {
        const { session_retention_days: days } = settings.current.agent;
        if (days === 0) return false;
        return (await database.query(TRIM, { days, most: MAX_TRIMMED })).length === MAX_TRIMMED;
      },
    });
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }
}
