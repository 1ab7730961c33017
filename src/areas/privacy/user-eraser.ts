import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog } from '../../platform/audit-log/audit-log.js';
import type { Database } from '../../platform/database/database.js';
import { integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import type { TokenStore } from '../../platform/tokens/token.store.js';
import type { TokensService } from '../../platform/tokens/tokens.service.js';
import { wakeParked } from '../turns/turns.api.js';
import { type Person, personParams } from './person.js';
import { type Batched, existingTables } from './plan.sql.js';
import { countOf } from './user-export.js';

/** Turns end within a second and a half of their session's end; a replica that died holds its lease for a while. */
const MAX_TURN_WAIT_MS = 30_000;
const LOOK_MS = 250;
/** Replicas store their log lines with a delay. */
const LOGS_SETTLE_MS = 2500;

const MY_SESSIONS = 'SELECT id FROM sessions WHERE user_id = :user';
const END_SESSIONS = statement({
  name: 'privacy.end_sessions',
  params: { user: text },
  row: { id: text },
  sql: `
    UPDATE sessions SET status = 'terminated', ended_at = now()
    WHERE user_id = :user AND status <> 'terminated' RETURNING id`,
});
const WAKE_PARKED = statement({
  name: 'privacy.wake_parked',
  params: { user: text },
  row: {},
  sql: wakeParked(`turns.session_id IN (${MY_SESSIONS})`),
});
const DROP_WAITING = statement({
  name: 'privacy.drop_waiting',
  params: { user: text },
  row: { id: text },
  sql: `DELETE FROM turns WHERE status = 'waiting' AND session_id IN (${MY_SESSIONS}) RETURNING id`,
});
const RUNNING = statement({
  name: 'privacy.running',
  params: { user: text },
  row: { n: integer },
  sql: `
    SELECT count(*)::int AS n FROM turns JOIN sessions AS s ON s.id = turns.session_id
    WHERE s.user_id = :user AND turns.status IN ('running', 'awaiting_approval')`,
});
const NAMED_IN_CONFIGURATION = statement({
  name: 'privacy.named_in_configuration',
  params: { user: text, json: text },
  row: { key: text },
  sql: `
    SELECT key FROM config_overrides WHERE strpos(key, :user) > 0 OR strpos(value::text, :json) > 0 ORDER BY key`,
});

export interface Erasure {
  /** Rows deleted, by table. */
  readonly deleted: Readonly<Record<string, number>>;
  /** Rows that stay without the name, by table. */
  readonly renamed: Readonly<Record<string, number>>;
  /** Keys of the configuration that still name the person: operators decide about those. */
  readonly configuration: readonly string[];
}

/** Folders on the replicas' machines; the replicas delete them. */
export interface PersonFolders {
  note(userId: string): Promise<void>;
}

/**
 * Erases a person by the plan, in small batches, each a transaction of its own. A run that was interrupted is repeated and
 * goes on with what is left. Running turns are ended first, so that no replica writes what was just erased.
 */
export class UserEraser {
  constructor(
    private readonly database: Database,
    private readonly tokens: TokensService,
    private readonly store: TokenStore,
    private readonly audit: AuditLog,
    private readonly folders: PersonFolders,
  ) {}

  async run(person: Person, progress: (done: number, all: number) => void): Promise<Erasure> {
    await this.revokeTokens(person);
    await this.endSessions(person);
    await this.folders.note(person.id);
    await sleep(LOGS_SETTLE_MS);
    const tables = await existingTables(this.database);
    let all = 0;
    for (const table of tables)
      if (table.erase !== undefined) all += await countOf(this.database, table, person);
    const deleted: Record<string, number> = {};
    const renamed: Record<string, number> = {};
    let done = 0;
    for (const { table, erase, changes } of tables) {
      const count = (rows: number): void => {
        done += rows;
        progress(done, Math.max(all, done));
      };
      deleted[table] = erase === undefined ? 0 : await this.inBatches(erase, person, count);
      renamed[table] = 0;
      for (const change of changes) renamed[table] += await this.inBatches(change, person);
    }
    // Some were deleted with the rows that they belong to.
    progress(Math.max(all, done), Math.max(all, done));
    return this.finish(person, nonZero(deleted), nonZero(renamed));
  }

  private async finish(
    person: Person,
    deleted: Erasure['deleted'],
    renamed: Erasure['renamed'],
  ): Promise<Erasure> {
    const found = await this.database.query(NAMED_IN_CONFIGURATION, {
      ...{ user: person.id, json: JSON.stringify(person.id) },
    });
    const details = { deleted, renamed, pseudonym: person.hash };
    await this.audit.write(this.database, {
      ...{ action: 'user.erased', target: person.id, outcome: 'success', details },
    });
    return { deleted, renamed, configuration: found.map(({ key }) => key) };
  }

  /** What tokens bound to the person made ends with them, and so does what the person made as an identity. */
  private async revokeTokens({ id }: Person): Promise<void> {
    for (const token of await this.store.list())
      if (token.boundUserId === id && token.revokedAt === null) await this.tokens.revoke(token.id);
    await this.tokens.endMadeBy(id);
  }

  /** Replicas abort turns of sessions that have ended. A turn whose replica died is deleted all the same. */
  private async endSessions({ id: user }: Person): Promise<void> {
    const ended = await this.database.query(END_SESSIONS, { user });
    if (ended.length > 0) {
      const details = { sessions: ended.length };
      await this.audit.write(this.database, {
        ...{ action: 'session.erased', target: user, outcome: 'success', details },
      });
    }
    await this.database.query(DROP_WAITING, { user });
    await this.database.query(WAKE_PARKED, { user });
    for (const until = Date.now() + MAX_TURN_WAIT_MS; Date.now() < until; ) {
      const [running] = await this.database.query(RUNNING, { user });
      if (running === undefined || running.n === 0) return;
      await sleep(LOOK_MS);
    }
  }

  private async inBatches(
    { statement, atOnce }: Batched,
    person: Person,
    count: (rows: number) => void = () => undefined,
  ): Promise<number> {
    for (let total = 0; ; ) {
      const [row] = await this.database.query(statement, personParams(person));
      const { found, done } = row ?? { found: 0, done: 0 };
      total += done;
      count(done);
      if (found < atOnce && done >= found) return total;
    }
  }
}

function nonZero(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
