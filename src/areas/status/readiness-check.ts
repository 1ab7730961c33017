import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { migrations } from '../../platform/database/migrations.js';
import { arrayOf, integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { StorageWatch } from '../../platform/database/storage-watch.js';
import { Readiness } from '../../platform/lifecycle/readiness.js';
import { withDeadline } from '../../platform/runtime/with-deadline.js';

/** Far below the time-out of a usual probe. */
const TIMEOUT_MS = 2000;
const FRESH_MS = 250;

/** One statement answers both: does the database answer, and have our migrations run? */
const APPLIED = statement({
  name: 'status.applied_migrations',
  timeoutMs: TIMEOUT_MS,
  params: { names: arrayOf(text) },
  row: { applied: integer },
  sql: `SELECT count(DISTINCT name)::int AS applied FROM schema_migrations WHERE name = ANY (:names)`,
});
const NAMES = migrations.map(({ name }) => name);
const NO_SUCH_TABLE = '42P01';

/** What keeps a replica from being ready, as a sentence for each part; undefined where nothing does. */
export interface ReadinessProblems {
  readonly gateway: string | undefined;
  readonly database: string | undefined;
  readonly migrations: string | undefined;
}

type DatabaseProblems = Omit<ReadinessProblems, 'gateway'>;

const NONE: DatabaseProblems = { database: undefined, migrations: undefined };

/**
 * Whether this replica should get requests: started, not draining, and with a database that answers and is up to date.
 * Never because of a channel, a tool server or the provider: their failures affect every replica alike.
 */
@Injectable()
export class ReadinessCheck {
  private lastAsked = Number.NEGATIVE_INFINITY;
  private last: Promise<DatabaseProblems> = Promise.resolve(NONE);

  constructor(
    private readonly readiness: Readiness,
    private readonly database: Database,
    private readonly storage: StorageWatch,
  ) {}

  async problems(): Promise<ReadinessProblems> {
    return { gateway: this.gatewayProblem(), ...(await this.databaseProblems()) };
  }

  private gatewayProblem(): string | undefined {
    if (this.readiness.isDraining) return 'the gateway is shutting down';
    return this.readiness.isReady ? undefined : 'the gateway is starting';
  }

  /** Probes within a quarter of a second share one statement. */
  private databaseProblems(): Promise<DatabaseProblems> {
    if (performance.now() - this.lastAsked > FRESH_MS) {
      this.lastAsked = performance.now();
      this.last = this.ask();
    }
    return this.last;
  }

  private async ask(): Promise<DatabaseProblems> {
    const database = `the database did not answer within ${TIMEOUT_MS} ms`;
    try {
      return await withDeadline(this.askDatabase(), TIMEOUT_MS, () => ({ ...NONE, database }));
    } catch (error) {
      const hasNoTables = error instanceof Error && 'code' in error && error.code === NO_SUCH_TABLE;
      if (hasNoTables) return { ...NONE, migrations: 'no migration has run in this database' };
      return { ...NONE, database: 'the database cannot be reached' };
    }
  }

  private async askDatabase(): Promise<DatabaseProblems> {
    const [row] = await this.database.query(APPLIED, { names: NAMES });
    const missing = NAMES.length - (row?.applied ?? 0);
    return missing === 0
      ? { ...NONE, database: await this.storage.problem() }
      : { ...NONE, migrations: `${missing} of ${NAMES.length} migrations have not run` };
  }
}
