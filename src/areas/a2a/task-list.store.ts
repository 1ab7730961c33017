import { TaskState } from '@a2a-js/sdk';
import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Conditions } from '../../platform/database/conditions.js';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { TurnResult } from '../turns/turns.api.js';

/** Which tasks are asked for; what is undefined says nothing. */
export interface TaskFilter {
  readonly contextId: string | undefined;
  readonly agent: string | undefined;
  readonly statuses: readonly TurnResult['status'][] | undefined;
  /** When their state changed at the earliest. */
  readonly since: Date | undefined;
}

export interface ListedTask {
  readonly id: string;
  /** When its state changed. */
  readonly at: Date;
  /** How many there were when the first page was read; goes with the cursor. */
  readonly total: number;
}

export interface TaskPage extends Page<ListedTask> {
  readonly total: number;
}

/** The first page counts all that the filters leave: with too many, others would wait for the connection. */
const TIMEOUT_MS = 5000;

/** To the millisecond, as cursors have it. The expression of the index `turns_changed`. */
const CHANGED = 'coalesce(t.ended_at, t.started_at, t.created_at)';
const CHANGED_AT: Statement = {
  name: 'a2a.task_changed',
  text: `SELECT ${CHANGED} AS at FROM turns AS t WHERE t.id = $1`,
};
/** What a count in PostgreSQL can be. */
const MOST_COUNTED = 2 ** 31 - 1;
const LIST = new KeysetList<ListedTask>('tasks', ['time', 'text', 'number'], ({ at, id, total }) => [
  at,
  id,
  total,
]);

/** Which turns another agent sees as tasks, those whose state changed last first. */
@Injectable()
export class TaskListStore {
  constructor(private readonly database: Database) {}

  /** When the state of a task changed. */
  async changedAt(turnId: string): Promise<Date | undefined> {
    return (await this.database.query<{ at: Date }>(CHANGED_AT, [turnId]))[0]?.at;
  }

  /** Throws `BadFields` for a cursor of another list. */
  async page(
    { contextId, agent, statuses, since }: TaskFilter,
    page: PageQuery,
    caller: Caller,
  ): Promise<TaskPage> {
    const filters = [
      contextId,
      agent,
      statuses?.join(','),
      since?.toISOString(),
      caller.boundUserId,
      caller.agents?.join(','),
    ];
    const [at, id, total] = LIST.after(page, filters);
    const isFirst = page.cursor === undefined;
    const found = new Conditions([at ?? '', id ?? '', page.limit + 1])
      .add('context', contextId, 't.session_id = :value')
      .add('agent', agent, 's.agent = :value')
      .add('statuses', statuses, 't.status = ANY (:value)')
      .add('since', since, `${CHANGED} >= :value`)
      .add('bound', caller.boundUserId ?? undefined, 's.user_id = :value')
      .add('agents', caller.agents, 's.agent = ANY (:value)');
    const rows = await this.database.query<{ total: number | null; id: string | null; at: Date }>(
      pageStatement(found, isFirst),
      found.values,
    );
    const count = isFirst ? (rows[0]?.total ?? 0) : Math.min(Math.max(Number(total), 0), MOST_COUNTED);
    const items = rows.flatMap((row) => (row.id === null ? [] : [{ id: row.id, at: row.at, total: count }]));
    return { ...LIST.page(items, page, filters), total: count };
  }
}

/** The first page also counts what all pages have together; the others go on by the index. */
function pageStatement({ name, text }: Conditions, isFirst: boolean): Statement {
  const mine = `FROM turns AS t JOIN sessions AS s ON s.id = t.session_id WHERE true${text}`;
  return {
    name: `a2a.tasks${isFirst ? '_first' : ''}${name}`,
    replanned: true,
    timeoutMs: TIMEOUT_MS,
    text: `
      SELECT counted.total, listed.id, listed.at
      FROM (SELECT ${isFirst ? `(SELECT count(*)::int ${mine})` : 'NULL::int'} AS total) AS counted LEFT JOIN (
        SELECT t.id, ${CHANGED} AS at ${mine} AND (${CHANGED}, t.id) < ($1::timestamptz, $2)
        ORDER BY ${CHANGED} DESC, t.id DESC LIMIT $3) AS listed ON true
      ORDER BY listed.at DESC, listed.id DESC`,
  };
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
