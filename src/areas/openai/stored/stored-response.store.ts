import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { SqlRunner, Statement } from '../../../platform/database/sql.js';
import { storableJson } from '../../../platform/database/storable-text.js';
import { forgetEarlier, type Message, takeBackOutputs } from '../../turns/turns.api.js';
import type { Echo } from '../requests/response-echo.js';

/** What is kept of a response beside its turn. */
interface ResponseRequestRow {
  readonly request: Echo;
  readonly created_at: Date;
}

/** What the outputs of the caller's tools follow. */
interface LastAnswer {
  readonly turnId: string;
  readonly calls: Message['toolCalls'];
}

const ADD: Statement = {
  name: 'responses.add',
  text: 'INSERT INTO responses (turn_id, request, created_at) VALUES ($1, $2, $3)',
};
const FIND: Statement = {
  name: 'responses.find',
  text: 'SELECT request, created_at FROM responses WHERE turn_id = $1',
};
/**
 * Whether session `$1` has turns after `$2`, beside `$3`, that said something or may still: asked while its row is held, so that
 * of two requests that go on with one response one is refused. `$4` says that `$3` goes before those that wait in line.
 */
const CONTINUED: Statement = {
  name: 'responses.continued',
  text: `
    SELECT 1 FROM turns WHERE session_id = $1 AND id NOT IN ($2, $3)
      AND arrival > (SELECT arrival FROM turns WHERE id = $2)
      AND (status IN ('completed', 'running', 'awaiting_approval') OR status = 'waiting' AND NOT $4::boolean) LIMIT 1`,
};
/** The newest whole answer of session `$1`: what the caller's tools returned belongs to it. */
const LAST_ANSWER: Statement = {
  name: 'responses.last_answer',
  text: `
    SELECT said.turn_id, said.tool_calls FROM messages AS said JOIN turns ON turns.id = said.turn_id
    WHERE said.session_id = $1 AND said.seq IS NOT NULL AND said.role = 'assistant' AND turns.status = 'completed'
    ORDER BY said.seq DESC LIMIT 1`,
};
/** Whoever goes on with a session holds its row, too: one comes after the other. */
const LOCK: Statement = {
  name: 'responses.lock_session',
  text: 'SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE',
};
/** @returns whether the session has others */
const FORGET: Statement = {
  name: 'responses.forget_one',
  text: `
    WITH gone AS (DELETE FROM responses WHERE turn_id = $1 RETURNING turn_id)
    SELECT EXISTS (
      SELECT 1 FROM responses JOIN turns ON turns.id = responses.turn_id
      WHERE turns.session_id = $2 AND turns.id <> $1) AS others FROM gone`,
};

/** The statements of responses. */
@Injectable()
export class StoredResponseStore {
  constructor(private readonly database: Database) {}

  async add(runner: SqlRunner, turnId: string, request: Echo, createdAt: number): Promise<void> {
    const kept = JSON.stringify(storableJson(request));
    await runner.query(ADD, [turnId, kept, new Date(createdAt * 1000)]);
  }

  async find(turnId: string): Promise<ResponseRequestRow | undefined> {
    return (await this.database.query<{ request: Echo; created_at: Date }>(FIND, [turnId]))[0];
  }

  /** The calls of the newest whole answer of a session, and its turn. */
  async lastAnswer(sessionId: string): Promise<LastAnswer | undefined> {
    const [row] = await this.database.query<{ turn_id: string; tool_calls: Message['toolCalls'] }>(
      LAST_ANSWER,
      [sessionId],
    );
    return row && { turnId: row.turn_id, calls: row.tool_calls };
  }

  /**
   * Whether the conversation went on after turn `after` in another way than with `turnId`.
   * @param isAwaited whether the session waits for the message of `turnId`, before all that stand in line
   */
  async isContinued(
    runner: SqlRunner,
    sessionId: string,
    { after, turnId, isAwaited }: { after: string; turnId: string; isAwaited: boolean },
  ): Promise<boolean> {
    return (await runner.query(CONTINUED, [sessionId, after, turnId, isAwaited])).length > 0;
  }

  /** Whether the response was not forgotten meanwhile: asked while its session is held. */
  async isThere(runner: SqlRunner, turnId: string): Promise<boolean> {
    return (await runner.query(FIND, [turnId])).length > 0;
  }

  /** @returns whether it was the last response of its session */
  async forget(turnId: string, sessionId: string): Promise<boolean> {
    return this.database.transaction(async (runner) => {
      await runner.query(LOCK, [sessionId]);
      const [gone] = await runner.query<{ others: boolean }>(FORGET, [turnId, sessionId]);
      return gone?.others === false;
    });
  }

  /** Takes back outputs of turn `after` with which the session was to go on, unless it has gone on meanwhile. */
  async takeBack(sessionId: string, after: string, callIds: readonly string[]): Promise<void> {
    if (callIds.length === 0) return;
    await this.database.transaction(async (runner) => {
      await runner.query(LOCK, [sessionId]);
      const goingOn = { after, turnId: after, isAwaited: true };
      if (await this.isContinued(runner, sessionId, goingOn)) return;
      await takeBackOutputs(runner, { sessionId, turnId: after }, callIds);
    });
  }

  /** Takes back the conversation that a session was begun with, whose first turn did not begin. */
  async forgetEarlier(sessionId: string): Promise<void> {
    await this.database.transaction((runner) => forgetEarlier(runner, sessionId));
  }
}
