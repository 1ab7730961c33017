import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { Database } from '../../../platform/database/database.js';
import { integer, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { readBuildInfo } from '../../../platform/lifecycle/build-info.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { clockSkewMs } from '../host-parts.js';

const EVERY_MS = 10_000;

/** Also removes old entries: replicas that ended an hour ago without saying so. */
const SAY = statement({
  name: 'replicas.say',
  params: { id: text, version: text, skew: integer },
  row: {},
  sql: `
    WITH old AS (DELETE FROM replicas WHERE seen_at < now() - interval '1 hour' AND id <> :id)
    INSERT INTO replicas AS known (id, version, clock_skew_ms) VALUES (:id, :version, :skew)
    ON CONFLICT (id) DO UPDATE SET seen_at = now(), clock_skew_ms = excluded.clock_skew_ms`,
});
const LEAVE = statement({
  name: 'replicas.leave',
  params: { id: text },
  row: {},
  sql: 'DELETE FROM replicas WHERE id = :id',
});
/** More than the column can hold is just as wrong. */
const MOST_MS = 2 ** 31 - 1;

/**
 * Records every ten seconds, for all replicas to read, that this one runs, with its version and the difference of its
 * clock.
 */
@Injectable()
export class ReplicaRegister implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly version = readBuildInfo().version;
  private readonly poller = new Poller({
    everyMs: EVERY_MS,
    look: () => this.say(),
    failed: (error) =>
      this.logger.debug('this replica could not record that it is running; will retry', {
        error: sentenceOf(error),
      }),
  });

  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway');
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
    await this.database
      .query(LEAVE, { id: this.replica.value })
      .catch((error: unknown) =>
        this.logger.debug('this replica could not record that it is stopping', { error: sentenceOf(error) }),
      );
  }

  private async say(): Promise<void> {
    const skew = await clockSkewMs(this.database);
    const bounded = Math.sign(skew) * Math.min(Math.abs(skew), MOST_MS);
    await this.database.query(SAY, { id: this.replica.value, version: this.version, skew: bounded });
  }
}
