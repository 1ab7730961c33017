import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog } from '../../platform/audit-log/audit-log.js';
import type { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import type { TokenStore } from '../../platform/tokens/token.store.js';
import type { TokensService } from '../../platform/tokens/tokens.service.js';
import { wakeParked } from '../turns/turns.api.js';
import type { TablePlan } from './erasure-plan.js';
import { GIVEN, givenValues, type Person } from './person.js';
import { existingTables } from './tables.js';
import { countOf } from './user-export.js';

const ROWS_AT_ONCE = 500;
const LARGE_ROWS_AT_ONCE = 20;
/** Turns end within a second and a half of their session's end; a replica that died holds its lease for a while. */
const MAX_TURN_WAIT_MS = 30_000;
const LOOK_MS = 250;
/** Replicas store their log lines behind the output. */
const LOGS_SETTLE_MS = 2500;

const END_SESSIONS: Statement = {
  name: 'privacy.end_sessions',
  text: `
    UPDATE sessions SET status = 'terminated', ended_at = now()
    WHERE user_id = $1 AND status <> 'terminated' RETURNING id`,
};
const WAKE_PARKED: Statement = {
  name: 'privacy.wake_parked',
  text: wakeParked('turns.session_id IN (SELECT id FROM sessions WHERE user_id = $1)'),
};
const DROP_WAITING: Statement = {
  name: 'privacy.drop_waiting',
  text: `
    DELETE FROM turns WHERE status = 'waiting' AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)
    RETURNING id`,
};
const RUNNING: Statement = {
  name: 'privacy.running',
  text: `
    SELECT count(*)::int AS n FROM turns JOIN sessions AS s ON s.id = turns.session_id
    WHERE s.user_id = $1 AND turns.status IN ('running', 'awaiting_approval')`,
};
const NAMED_IN_CONFIGURATION: Statement = {
  name: 'privacy.named_in_configuration',
  text: `
    SELECT key FROM config_overrides WHERE strpos(key, $1) > 0 OR strpos(value::text, $2) > 0 ORDER BY key`,
};

export interface Erasure {
  /** Rows deleted, by table. */
  readonly deleted: Readonly<Record<string, number>>;
  /** Rows that stay without the name, by table. */
  readonly renamed: Readonly<Record<string, number>>;
  /** Keys of the configuration that still name the person: operators decide about those. */
  readonly configuration: readonly string[];
}

/** What lies on the machines of replicas; they delete it. */
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
    for (const [table, { stays }] of tables)
      if (stays !== true) all += await countOf(this.database, table, person);
    const deleted: Record<string, number> = {};
    const renamed: Record<string, number> = {};
    let done = 0;
    for (const [table, plan] of tables) {
      const count = (rows: number): void => {
        done += rows;
        progress(done, Math.max(all, done));
      };
      deleted[table] = await this.deleteRows(table, plan, person, count);
      renamed[table] = await this.rename(table, plan, person);
    }
    // Some went with the rows that they belong to.
    progress(Math.max(all, done), Math.max(all, done));
    return this.finish(person, nonZero(deleted), nonZero(renamed));
  }

  private async finish(
    person: Person,
    deleted: Erasure['deleted'],
    renamed: Erasure['renamed'],
  ): Promise<Erasure> {
    const found = await this.database.query<{ key: string }>(NAMED_IN_CONFIGURATION, [
      person.id,
      JSON.stringify(person.id),
    ]);
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
  private async endSessions({ id }: Person): Promise<void> {
    const ended = await this.database.query<{ id: string }>(END_SESSIONS, [id]);
    if (ended.length > 0) {
      const details = { sessions: ended.length };
      await this.audit.write(this.database, {
        ...{ action: 'session.erased', target: id, outcome: 'success', details },
      });
    }
    await this.database.query(DROP_WAITING, [id]);
    await this.database.query(WAKE_PARKED, [id]);
    for (const until = Date.now() + MAX_TURN_WAIT_MS; Date.now() < until; ) {
      const [running] = await this.database.query<{ n: number }>(RUNNING, [id]);
      if (running === undefined || running.n === 0) return;
      await sleep(LOOK_MS);
    }
  }

  private async deleteRows(
    table: string,
    { mine, large, stays }: TablePlan,
    person: Person,
    count: (rows: number) => void,
  ): Promise<number> {
    if (mine === undefined || stays === true) return 0;
    const most = large === true ? LARGE_ROWS_AT_ONCE : ROWS_AT_ONCE;
    const statement: Statement = {
      name: `privacy.delete_${table}`,
      replanned: true,
      text: `
        WITH ${GIVEN}
        DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
          SELECT t.ctid FROM ${table} AS t, given WHERE ${mine} LIMIT ${most} FOR UPDATE OF t))
        RETURNING 1`,
    };
    return this.inBatches(statement, person, most, count);
  }

  /** Ids of the person in rows that stay. */
  private async rename(table: string, { hashed = [], also }: TablePlan, person: Person): Promise<number> {
    let renamed = 0;
    if (also !== undefined)
      renamed += await this.inBatches(changeOf(table, 'also', also.set, also.where), person, ROWS_AT_ONCE);
    for (const column of hashed) {
      const change = changeOf(table, column, `${column} = given.hash`, `t.${column} = given.id`);
      renamed += await this.inBatches(change, person, ROWS_AT_ONCE);
    }
    return renamed;
  }

  private async inBatches(
    statement: Statement,
    person: Person,
    most: number,
    count: (rows: number) => void = () => undefined,
  ): Promise<number> {
    for (let total = 0; ; ) {
      const rows = (await this.database.query(statement, givenValues(person))).length;
      total += rows;
      count(rows);
      if (rows < most) return total;
    }
  }
}

function changeOf(table: string, what: string, set: string, where: string): Statement {
  return {
    name: `privacy.change_${table}_${what}`,
    replanned: true,
    text: `
      WITH ${GIVEN}
      UPDATE ${table} SET ${set} FROM given WHERE ${table}.ctid = ANY (ARRAY(
        SELECT t.ctid FROM ${table} AS t, given WHERE ${where} LIMIT ${ROWS_AT_ONCE}))
      RETURNING 1`,
  };
}

function nonZero(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
