import { TaskState } from '@a2a-js/sdk';
import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Database } from '../../platform/database/database.js';
import {
  arrayOf,
  bigint,
  integer,
  nullable,
  oneOf,
  optional,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import { filtersGiven, statement, statementsBy } from '../../platform/database/statement.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { TurnResult } from '../turns/turns.api.js';

/** The filters of a list; undefined ones do not apply. */
export interface TaskFilter {
  readonly contextId: string | undefined;
  readonly agent: string | undefined;
  readonly statuses: readonly TurnResult['status'][] | undefined;
  /** The earliest change of their state. */
  readonly since: Date | undefined;
}

export interface ListedTask {
  readonly id: string;
  /** When its state changed. */
  readonly at: Date;
  /** How many there were when the first page was read; kept in the cursor. */
  readonly total: number;
}

export interface TaskPage extends Page<ListedTask> {
  readonly total: number;
}

/**
 * How long the first page may count everything that matches the filters: a longer count would keep others waiting for
 * the connection.
 */
const TIMEOUT_MS = 5000;

/** To the millisecond, as cursors have it. The expression of the index `turns_changed`. */
const CHANGED = 'coalesce(t.ended_at, t.started_at, t.created_at)';
const CHANGED_AT = statement({
  name: 'a2a.task_changed',
  params: { turn: text },
  row: { at: timestamp },
  sql: `SELECT ${CHANGED} AS at FROM turns AS t WHERE t.id = :turn`,
});
/** The largest count in PostgreSQL. */
const MOST_COUNTED = 2 ** 31 - 1;
const LIST = new KeysetList('tasks', ['time', 'text', 'number'], ({ at, id, total }: ListedTask) => [
  at,
  id,
  total,
]);

const CONDITIONS = {
  context: 't.session_id = :context',
  agent: 's.agent = :agent',
  statuses: 't.status = ANY (:statuses)',
  since: `${CHANGED} >= :since`,
  bound: 's.user_id = :bound',
  agents: 's.agent = ANY (:agents)',
} as const;
const FILTERS = Object.keys(CONDITIONS) as readonly (keyof typeof CONDITIONS)[];

/** The first page also counts what all pages have together; the others go on by the index. */
const pagesOf = (which: 'first' | 'next') =>
  statementsBy(FILTERS, (given) => {
    const conditions = [...given].map((filter) => ` AND ${CONDITIONS[filter]}`).join('');
    const mine = `FROM turns AS t JOIN sessions AS s ON s.id = t.session_id WHERE true${conditions}`;
    return {
      name: [`a2a.tasks_${which}`, ...given].join('.'),
      replanned: true,
      timeoutMs: TIMEOUT_MS,
      params: {
        ...{ at: timestamp, id: text, most: bigint },
        ...{ context: optional(text), agent: optional(text), since: optional(timestamp) },
        statuses: optional(arrayOf(oneOf<TurnResult['status']>())),
        ...{ bound: optional(text), agents: optional(arrayOf(text)) },
      },
      row: { total: nullable(integer), id: nullable(text), at: nullable(timestamp) },
      sql: `
        SELECT counted.total, listed.id, listed.at
        FROM (SELECT ${which === 'first' ? `(SELECT count(*)::int ${mine})` : 'NULL::int'} AS total) AS counted LEFT JOIN (
          SELECT t.id, ${CHANGED} AS at ${mine} AND (${CHANGED}, t.id) < (:at::timestamptz, :id)
          ORDER BY ${CHANGED} DESC, t.id DESC LIMIT :most) AS listed ON true
        ORDER BY listed.at DESC, listed.id DESC`,
    };
  });
const FIRST_PAGE = pagesOf('first');
const NEXT_PAGE = pagesOf('next');

/** The turns that another agent sees as tasks; those whose state changed last come first. */
@Injectable()
export class TaskListStore {
  constructor(private readonly database: Database) {}

  /** When the state of a task changed. */
  async changedAt(turnId: string): Promise<Date | undefined> {
    return (await this.database.query(CHANGED_AT, { turn: turnId }))[0]?.at;
  }

  /** Throws `BadFields` for a cursor of another list. */
  async page(
    { contextId, agent, statuses, since }: TaskFilter,
    page: PageQuery,
    caller: Caller,
  ): Promise<TaskPage> {
    const bound = caller.boundUserId ?? undefined;
    const { agents } = caller;
    const asked = [contextId, agent, statuses?.join(','), since?.toISOString(), bound, agents?.join(',')];
    const [at, id, total] = LIST.after(page, asked);
    const isFirst = page.cursor === undefined;
    const filters = { context: contextId, agent, statuses, since, bound, agents };
    const find = isFirst ? FIRST_PAGE : NEXT_PAGE;
    const rows = await this.database.query(find(filtersGiven(filters)), {
      ...{ ...filters, at, id, most: page.limit + 1 },
    });
    const count = isFirst ? (rows[0]?.total ?? 0) : Math.min(Math.max(Number(total), 0), MOST_COUNTED);
    const items = rows.flatMap((row) =>
      row.id === null || row.at === null ? [] : [{ id: row.id, at: row.at, total: count }],
    );
    return { ...LIST.page(items, page, asked), total: count };
  }
}

/** The turns that are in a state of the protocol; undefined for all of them, none for states that no turn is in. */
export function statusesIn(state: TaskState): readonly TurnResult['status'][] | undefined {
  switch (state) {
    case TaskState.TASK_STATE_UNSPECIFIED:
      return undefined;
    case TaskState.TASK_STATE_SUBMITTED:
      return ['waiting'];
    case TaskState.TASK_STATE_WORKING:
      return ['running', 'awaiting_approval'];
    case TaskState.TASK_STATE_COMPLETED:
      return ['completed'];
    case TaskState.TASK_STATE_CANCELED:
      return ['cancelled'];
    case TaskState.TASK_STATE_FAILED:
      return ['failed', 'interrupted'];
    default:
      return [];
  }
}
