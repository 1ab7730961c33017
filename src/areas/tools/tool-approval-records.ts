import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import * as sql from './tool-approvals.sql.js';

/** A question as operators see it, from when it is asked until an hour after it was decided. */
export interface ApprovalRecord {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly sessionId: string;
  readonly channel: string;
  readonly userId: string;
  readonly askedAt: Date;
  readonly expiresAt: Date;
  readonly status: 'pending' | 'allowed' | 'denied';
  /** As the audit names them; null while it waits, as are the next two. */
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly reason: string | null;
}

interface RecordRow {
  id: string;
  call_id: string;
  tool: string;
  arguments: Record<string, unknown>;
  session_id: string;
  channel: string;
  user_id: string;
  asked_at: Date;
  expires_at: Date;
  verdict: 'allowed' | 'denied' | null;
  decided_by: string | null;
  decided_at: Date | null;
  reason: string | null;
}

/** Looks up tool calls that wait for a person, or did. */
@Injectable()
export class ToolApprovalRecords {
  constructor(private readonly database: Database) {}

  /** Newest first, those after this time and id; `userId` null sees all. */
  async page(
    after: readonly string[],
    { status, userId }: { readonly status: ApprovalRecord['status']; readonly userId: string | null },
    most: number,
  ): Promise<ApprovalRecord[]> {
    const values = [...after, userId, status, most];
    return (await this.database.query<RecordRow>(sql.PAGE, values)).map(toRecord);
  }

  /** One that waits or was decided; undefined once nobody can decide it any more. */
  async find(id: string, userId: string | null): Promise<ApprovalRecord | undefined> {
    const [row] = await this.database.query<RecordRow>(sql.FIND, [id, userId]);
    return row && toRecord(row);
  }
}

function toRecord(row: RecordRow): ApprovalRecord {
  return {
    id: row.id,
    callId: row.call_id,
    tool: row.tool,
    arguments: row.arguments,
    sessionId: row.session_id,
    channel: row.channel,
    userId: row.user_id,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    status: row.verdict ?? 'pending',
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    reason: row.reason,
  };
}
