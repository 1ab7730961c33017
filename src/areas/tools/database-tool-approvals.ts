import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { Database } from '../../platform/database/database.js';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApprovalVerdict,
  type OpenApproval,
  ToolApprovals,
} from './tool-approvals.port.js';
import * as sql from './tool-approvals.sql.js';

const POLL_MS = 250;

interface OpenRow {
  id: string;
  call_id: string;
  tool: string;
  arguments: Record<string, unknown>;
  session_id: string;
  channel: string;
  user_id: string;
  asked_at: Date;
  expires_at: Date;
}

/** Questions are rows, so that whoever answers needs not be where the turn runs. A question dies with its turn. */
@Injectable()
export class DatabaseToolApprovals extends ToolApprovals {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {
    super();
  }

  async ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalVerdict> {
    const { callId, tool, context, timeoutMs } = question;
    const { sessionId, channel, userId } = context;
    const id = newId('appr');
    const [asked] = await this.database.query<{ expires_at: Date }>(sql.ASK, [
      ...[id, callId, tool, JSON.stringify(question.arguments), sessionId, channel, userId],
      timeoutMs / 1000,
    ]);
    try {
      if (asked !== undefined) question.onOpen?.(id, asked.expires_at);
      return await this.verdict(id, signal);
    } finally {
      await this.database.query(sql.FORGET, [id]).catch(() => undefined);
    }
  }

  async open(sessionId?: string): Promise<readonly OpenApproval[]> {
    const rows = await this.database.query<OpenRow>(sql.OPEN, [sessionId ?? null]);
    return rows.map((row) => ({
      id: row.id,
      callId: row.call_id,
      tool: row.tool,
      arguments: row.arguments,
      sessionId: row.session_id,
      channel: row.channel,
      userId: row.user_id,
      askedAt: row.asked_at,
      expiresAt: row.expires_at,
    }));
  }

  answer(id: string, { verdict, by, reason }: ApprovalAnswer): Promise<boolean> {
    return this.database.transaction(async (runner) => {
      const [row] = await runner.query<{ tool: string; session_id: string; call_id: string }>(sql.ANSWER, [
        ...[id, verdict, by],
        reason ?? null,
      ]);
      if (row === undefined) return false;
      const { tool: target, session_id: sessionId, call_id: callId } = row;
      const entry = { action: 'approval.decided', actor: by, target, outcome: verdict, sessionId };
      await this.audit.write(runner, { ...entry, details: { call_id: callId } });
      return true;
    });
  }

  /** The time is the database's, so that nobody can answer what has been given up. */
  private async verdict(id: string, signal: AbortSignal): Promise<ApprovalVerdict> {
    for (;;) {
      signal.throwIfAborted();
      const [row] = await this.database.query<{ verdict: ApprovalVerdict | null }>(sql.VERDICT, [id]);
      if (row === undefined) return 'timeout';
      if (row.verdict !== null) return row.verdict;
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
