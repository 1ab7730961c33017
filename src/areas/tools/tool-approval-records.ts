import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Asker } from './tool-approvals.port.js';
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
  /** The name of the token whose message made the call; null when it is not known. */
  readonly askedBy: string | null;
  /** Null when it is not known, and once the turn has ended. */
  readonly asker: Asker | null;
  /** The agent of the session; null once the session is gone. */
  readonly agent: string | null;
  readonly askedAt: Date;
  readonly expiresAt: Date;
  readonly status: 'pending' | 'allowed' | 'denied';
  /** As the audit names them; null while it waits, as are the next two. */
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly reason: string | null;
}

/** Which of them somebody sees. */
export interface SeenApprovals {
  /** Null for those of every user. */
  readonly userId: string | null;
  /** Absent for those of every agent. */
  readonly agents?: readonly string[] | undefined;
}

interface RecordRow {
  id: string;
  call_id: string;
  tool: string;
  arguments: Record<string, unknown>;
  session_id: string;
  channel: string;
  user_id: string;
  agent: string | null;
  asked_by: string | null;
  asker: Asker | null;
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

  /** Newest first, those after this time and id. */
  async page(
    after: readonly string[],
    status: ApprovalRecord['status'],
    seen: SeenApprovals,
    most: number,
  ): Promise<ApprovalRecord[]> {
    const values = [...after, seen.userId, status, most, agentsOf(seen)];
    return (await this.database.query<RecordRow>(sql.PAGE, values)).map(toRecord);
  }

  /** How many calls wait, and since when the oldest does. */
  async waiting(): Promise<{ readonly count: number; readonly oldest: Date | null }> {
    const [row] = await this.database.query<{ count: number; oldest: Date | null }>(sql.WAITING);
    return row ?? { count: 0, oldest: null };
  }

  /** One that waits or was decided; undefined once nobody can decide it any more. */
  async find(id: string, seen: SeenApprovals): Promise<ApprovalRecord | undefined> {
    const [row] = await this.database.query<RecordRow>(sql.FIND, [id, seen.userId, agentsOf(seen)]);
    return row && toRecord(row);
  }
}

function agentsOf({ agents }: SeenApprovals): string[] | null {
  return agents === undefined ? null : [...agents];
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
    agent: row.agent,
    askedBy: row.asked_by,
    asker: row.asker,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    status: row.verdict ?? 'pending',
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    reason: row.reason,
  };
}
