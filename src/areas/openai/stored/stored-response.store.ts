import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import type { SqlRunner } from '../../../platform/database/sql.js';
import { boolean, integer, json, text, timestamp } from '../../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../../platform/database/statement.js';
import { storableJson } from '../../../platform/database/storable-text.js';
import { forgetEarlier, type Message, takeBackOutputs } from '../../turns/turns.api.js';
import type { Echo } from '../requests/response-echo.js';
import { StoredResponseEntity } from './stored-response.entity.js';

/** The answer whose calls the outputs of the caller's tools belong to. */
interface LastAnswer {
  readonly turnId: string;
  readonly calls: Message['toolCalls'];
}

const ADD = statement({
  name: 'responses.add',
  params: { turn: text, request: json<Echo>(), at: timestamp },
  row: {},
  sql: 'INSERT INTO responses (turn_id, request, created_at) VALUES (:turn, :request, :at)',
});
/** What is stored of a response besides its turn. */
const FIND = statement({
  name: 'responses.find',
  params: { turn: text },
  row: columnsOf(StoredResponseEntity, 'request', 'createdAt'),
  sql: 'SELECT request, created_at FROM responses WHERE turn_id = :turn',
});
/**
 * Whether a session has turns after `after`, other than `turn`, that said something or still may.
 * Read while the session's row is locked, so that of two requests that continue one response, one is refused. An
 * awaited turn goes before those that wait in line.
 */
const CONTINUED = statement({
  name: 'responses.continued',
  params: { session: text, after: text, turn: text, awaited: boolean },
  row: { one: integer },
  sql: `
    SELECT 1 AS one FROM turns WHERE session_id = :session AND id NOT IN (:after, :turn)
      AND arrival > (SELECT arrival FROM turns WHERE id = :after)
      AND (status IN ('completed', 'running', 'awaiting_approval') OR status = 'waiting' AND NOT :awaited::boolean) LIMIT 1`,
});
/** The newest whole answer of a session, to which the outputs of the caller's tools belong. */
const LAST_ANSWER = statement({
  name: 'responses.last_answer',
  params: { session: text },
  row: { turn_id: text, tool_calls: json<Message['toolCalls']>() },
  sql: `
    SELECT said.turn_id, said.tool_calls FROM messages AS said JOIN turns ON turns.id = said.turn_id
    WHERE said.session_id = :session AND said.seq IS NOT NULL AND said.role = 'assistant' AND turns.status = 'completed'
    ORDER BY said.seq DESC LIMIT 1`,
});
/** Every request that continues a session locks its row, too: one comes after the other. */
const LOCK = statement({
  name: 'responses.lock_session',
  params: { session: text },
  row: { one: integer },
  sql: 'SELECT 1 AS one FROM sessions WHERE id = :session FOR UPDATE',
});
/** @returns whether the session has other responses */
const FORGET = statement({
  name: 'responses.forget_one',
  params: { turn: text, session: text },
  row: { others: boolean },
  sql: `
    WITH gone AS (DELETE FROM responses WHERE turn_id = :turn RETURNING turn_id)
    SELECT EXISTS (
      SELECT 1 FROM responses JOIN turns ON turns.id = responses.turn_id
      WHERE turns.session_id = :session AND turns.id <> :turn) AS others FROM gone`,
});

/** The statements of responses. */
@Injectable()
export class StoredResponseStore {
  constructor(private readonly database: Database) {}

  async add(runner: SqlRunner, turnId: string, request: Echo, createdAt: number): Promise<void> {
    const kept = JSON.stringify(storableJson(request));
    await runner.query(ADD, { turn: turnId, request: kept, at: new Date(createdAt * 1000) });
  }

  async find(turnId: string): Promise<RowOfStatement<typeof FIND> | undefined> {
    return (await this.database.query(FIND, { turn: turnId }))[0];
  }

  /** The calls of the newest whole answer of a session, and its turn. */
  async lastAnswer(sessionId: string): Promise<LastAnswer | undefined> {
    const [row] = await this.database.query(LAST_ANSWER, { session: sessionId });
    return row && { turnId: row.turn_id, calls: row.tool_calls };
  }

  /**
   * Whether the conversation continued after turn `after` otherwise than with `turnId`.
   * @param isAwaited whether the session waits for the message of `turnId`, before all that wait in line
   */
  async isContinued(
    runner: SqlRunner,
    sessionId: string,
    { after, turnId, isAwaited }: { after: string; turnId: string; isAwaited: boolean },
  ): Promise<boolean> {
    const others = await runner.query(CONTINUED, {
      ...{ session: sessionId, after, turn: turnId, awaited: isAwaited },
    });
    return others.length > 0;
  }

  /** Whether the response was not deleted meanwhile: read while its session is locked. */
  async isThere(runner: SqlRunner, turnId: string): Promise<boolean> {
    return (await runner.query(FIND, { turn: turnId })).length > 0;
  }

  /** @returns whether it was the last response of its session */
  async forget(turnId: string, sessionId: string): Promise<boolean> {
    return this.database.transaction(async (runner) => {
      await runner.query(LOCK, { session: sessionId });
      const [gone] = await runner.query(FORGET, { turn: turnId, session: sessionId });
      return gone?.others === false;
    });
  }

  /** Removes outputs of turn `after` with which the session was to continue, unless it has continued meanwhile. */
  async takeBack(sessionId: string, after: string, callIds: readonly string[]): Promise<void> {
    if (callIds.length === 0) return;
    await this.database.transaction(async (runner) => {
      await runner.query(LOCK, { session: sessionId });
      const goingOn = { after, turnId: after, isAwaited: true };
      if (await this.isContinued(runner, sessionId, goingOn)) return;
      await takeBackOutputs(runner, { sessionId, turnId: after }, callIds);
    });
  }

  /** Removes the conversation that a session began with, whose first turn did not begin. */
  async forgetEarlier(sessionId: string): Promise<void> {
    await this.database.transaction((runner) => forgetEarlier(runner, sessionId));
  }
}
