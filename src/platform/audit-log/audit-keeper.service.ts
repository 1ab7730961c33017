import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Database } from '../database/database.js';
import { EventSignal } from '../events/event.store.js';
import { type Logger, Logs } from '../logging/logger.js';
import { DueWork } from '../runtime/due-work.service.js';
import { ANY_UNSEALED, sealBatch } from './audit-seals.js';

const LOOK_MS = 400;

/**
 * Seals the rows of the audit within a second of their commit. Every replica looks for them, and one at a time seals.
 * Writers only insert their row, so that no turn waits for another.
 */
@Injectable()
export class AuditKeeper implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private sealing: Promise<void> | undefined;
  private stopped = false;
  private failing = false;

  constructor(
    private readonly database: Database,
    private readonly due: DueWork,
    private readonly signal: EventSignal,
    logs: Logs,
  ) {
    this.logger = logs.for('audit');
  }

  onModuleInit(): void {
    this.due.watch({
      question: ANY_UNSEALED,
      everyMs: LOOK_MS,
      onAnswer: (isWaiting) => {
        if (isWaiting === false || this.stopped) return;
        this.sealing ??= this.seal().finally(() => {
          this.sealing = undefined;
        });
      },
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.sealing;
  }

  private async seal(): Promise<void> {
    try {
      for (let more = true; more && !this.stopped; ) {
        const batch = await sealBatch(this.database);
        this.signal.queued(batch.deliveries);
        more = batch.more;
      }
      this.failing = false;
    } catch (error) {
      if (!this.failing)
        this.logger.warn('the audit could not be sealed; it will be tried again', {
          error: sentenceOf(error),
        });
      this.failing = true;
    }
  }
}
