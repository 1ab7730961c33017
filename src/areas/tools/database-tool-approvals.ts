import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { Database } from '../../platform/database/database.js';
import { throughOutage } from '../../platform/database/through-outage.js';
import { EventSignal } from '../../platform/events/event.store.js';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApprovalVerdict,
  type OpenApproval,
  ToolApprovals,
  type TurnPause,
} from './tool-approvals.port.js';
import * as sql from './tool-approvals.sql.js';
import { VerdictWatch } from './verdict-watch.js';

/** Approvals are rows, so that they can be decided on any replica. An approval ends with its turn. */
@Injectable()
export class DatabaseToolApprovals extends ToolApprovals {
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
    private readonly signal: EventSignal,
    private readonly verdicts: VerdictWatch,
  ) {
    super();
  }

  async ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalVerdict> {
    const { callId, tool, context, timeoutMs, turnId } = question;
    const { sessionId, channel, userId } = context;
    const asking = {
      ...{ id: newId('appr'), callId, tool, arguments: JSON.stringify(question.arguments) },
      ...{ session: sessionId, channel, user: userId, turn: turnId ?? null },
      ...{ timeoutSecs: timeoutMs / 1000, askedBy: context.token?.name ?? null },
    };
    // When the database is away for longer than the approval lasts, the wait ends.
    const terms = { signal, limitMs: timeoutMs };
    const [asked] = await throughOutage(() => this.database.query(sql.ASK, asking), terms);
    if (asked === undefined) return 'timeout';
    this.signal.queued(asked.deliveries);
    const { id, expires_at: expiresAt } = asked;
    try {
      question.onOpen?.(id, expiresAt);
      return asked.verdict ?? (await this.verdicts.wait(id, terms));
    } catch (error) {
      const { goesOn } = (signal.reason ?? {}) as Partial<TurnPause>;
      if (signal.aborted && goesOn !== true)
        await this.database.query(sql.FORGET, { id }).catch(() => undefined);
      throw error;
    }
  }

  onAnswer(listener: () => void): void {
    this.listeners.push(listener);
  }

  async open(sessionId?: string): Promise<readonly OpenApproval[]> {
    const rows = await this.database.query(sql.OPEN, { session: sessionId ?? null });
    return rows.map((row) => ({
      id: row.id,
      callId: row.call_id,
      tool: row.tool,
      arguments: row.arguments,
      sessionId: row.session_id,
      channel: row.channel,
      userId: row.user_id,
      askedBy: row.asked_by,
      asker: row.asker,
      askedAt: row.asked_at,
      expiresAt: row.expires_at,
    }));
  }

  async answer(id: string, answer: ApprovalAnswer): Promise<boolean> {
    const deliveries = await this.store(id, answer);
    if (deliveries === undefined) return false;
    this.signal.queued(deliveries);
    this.verdicts.decided(id, answer.verdict);
    for (const listener of this.listeners) listener();
    return true;
  }

  /** @returns how many hooks get the event; undefined when the approval was not open */
  private store(id: string, { verdict, by, reason }: ApprovalAnswer): Promise<number | undefined> {
    return this.database.transaction(async (runner) => {
      const [row] = await runner.query(sql.ANSWER, { id, verdict, by, reason: reason ?? null });
      if (row === undefined) return undefined;
      await runner.query(sql.WAKE, { turn: row.turn_id });
      const { tool: target, session_id: sessionId, call_id: callId } = row;
      const entry = { action: 'approval.decided', actor: by, target, outcome: verdict, sessionId };
      await this.audit.write(runner, { ...entry, details: { call_id: callId } });
      return row.deliveries;
    });
  }
}
