import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids/typeid.js';
import { AuditLog } from '../../../platform/audit-log/audit-log.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlRunner } from '../../../platform/database/sql.js';
import type { RowOfStatement } from '../../../platform/database/statement.js';
import { storableJson, storableText } from '../../../platform/database/storable-text.js';
import { throughOutage } from '../../../platform/database/through-outage.js';
import type { ToolContext } from '../tool-catalog.port.js';
import {
  QUESTION_ACTIONS,
  type QuestionAnswer,
  type QuestionOutcome,
  type QuestionRecord,
  type QuestionStatus,
  STATUS_OF,
  type ToolQuestion,
} from './tool-question.js';
import * as sql from './tool-questions.sql.js';

const POLL_MS = 250;
/**
 * How long the gateway tries to delete an answer from the database when that is away; after some hours it is deleted
 * anyway.
 */
const FORGET_MS = 3000;

/** A question with the call that asks it. */
export interface AskedQuestion extends ToolQuestion {
  readonly callId: string;
  readonly tool: string;
  readonly context: ToolContext;
  /** Called once, when the question can be answered. */
  onOpen?(id: string, expiresAt: Date): void;
}

interface WaitTerms {
  readonly signal: AbortSignal;
  /** When the database is away for longer than the question lasts, the wait ends. */
  readonly limitMs: number;
}

/** Whose questions are listed. */
export interface QuestionFilter {
  readonly status: QuestionStatus;
  /** Null for everybody's. */
  readonly userId: string | null;
  /** Undefined for those of all agents. */
  readonly agents: readonly string[] | undefined;
}

/**
 * What tools ask people while they run. Questions are rows, so they can be answered on any replica, not only where the
 * turn runs; the first answer over all replicas counts. A question ends with the call that asked it.
 */
@Injectable()
export class ToolQuestions {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** Waits for an answer from any replica. Throws the signal's reason when it is aborted. */
  async ask(question: AskedQuestion, signal: AbortSignal): Promise<QuestionOutcome> {
    const { callId, tool, context, message, schema, url, timeoutMs } = question;
    const { sessionId, channel, userId, agent = 'default', actsFor } = context;
    const id = newId('ques');
    const asking = {
      ...{ id, callId, tool, session: sessionId, agent, channel, user: userId, actsFor: actsFor ?? null },
      ...{ message: storableText(message), schema: JSON.stringify(storableJson(schema)), url: url ?? null },
      timeoutSecs: timeoutMs / 1000,
    };
    const terms = { signal, limitMs: timeoutMs };
    const ask = () => this.database.query(sql.ASK, asking);
    try {
      const [asked] = await throughOutage(ask, terms);
      if (asked !== undefined) question.onOpen?.(id, asked.expires_at);
      return await this.outcome(id, terms);
    } finally {
      const forget = () => this.database.query(sql.FORGET, { id });
      await throughOutage(forget, { limitMs: FORGET_MS }).catch(() => undefined);
    }
  }

  /** Newest first, those after this time and id. */
  async page(
    [at, id]: readonly [at: string, id: string],
    filter: QuestionFilter,
    most: number,
  ): Promise<QuestionRecord[]> {
    const { status, userId, agents } = filter;
    const action = QUESTION_ACTIONS.find((name) => STATUS_OF[name] === status) ?? null;
    const given = { at, id, user: userId, agents: agents ?? null, action, most };
    return (await this.database.query(sql.PAGE, given)).map(toRecord);
  }

  /** A question that waits or was answered; undefined once nobody can answer it any more. */
  async find(id: string): Promise<QuestionRecord | undefined> {
    const [row] = await this.database.query(sql.FIND, { id });
    return row && toRecord(row);
  }

  /** The oldest question of the session that waits for this user, for whom the tool acts. */
  async findFor(sessionId: string, user: string): Promise<QuestionRecord | undefined> {
    const [row] = await this.database.query(sql.FIND_FOR, { session: sessionId, user });
    return row && toRecord(row);
  }

  /**
   * The content must fit the form of the question.
   * @returns whether it was open; the first answer counts
   * @param onAnswered what is written together with an answer that counts
   */
  answer(
    id: string,
    { action, content }: QuestionAnswer,
    by: string,
    onAnswered?: (runner: SqlRunner) => Promise<void>,
  ): Promise<boolean> {
    const said = action === 'accept' ? JSON.stringify(storableJson(content ?? {})) : null;
    return this.database.transaction(async (runner) => {
      const [row] = await runner.query(sql.ANSWER, { id, action, content: said, by });
      if (row === undefined) return false;
      const { tool: target, session_id: sessionId, call_id: callId } = row;
      const entry = {
        action: 'question.answered',
        actor: by,
        target,
        outcome: STATUS_OF[action],
        sessionId,
      };
      await this.audit.write(runner, { ...entry, details: { call_id: callId } });
      await onAnswered?.(runner);
      return true;
    });
  }

  /** The database's time counts, so that nobody can answer a question that has been given up. */
  private async outcome(id: string, terms: WaitTerms): Promise<QuestionOutcome> {
    const { signal } = terms;
    const look = () => this.database.query(sql.OUTCOME, { id });
    for (;;) {
      signal.throwIfAborted();
      const [row] = await throughOutage(look, terms);
      if (row === undefined || row.late) return { action: 'decline', isTimeout: true };
      if (row.action !== null) return { action: row.action, content: row.content ?? undefined };
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

function toRecord(row: RowOfStatement<typeof sql.FIND>): QuestionRecord {
  return {
    id: row.id,
    callId: row.call_id,
    tool: row.tool,
    sessionId: row.session_id,
    agent: row.agent,
    channel: row.channel,
    userId: row.user_id,
    actsFor: row.acts_for,
    message: row.message,
    schema: row.schema,
    ...(row.url === null ? {} : { url: row.url }),
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    status: row.action === null ? 'pending' : STATUS_OF[row.action],
    answeredBy: row.answered_by,
    answeredAt: row.answered_at,
  };
}
