import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { RowOfStatement } from '../../platform/database/statement.js';
import type { Asker } from './tool-approvals.port.js';
import * as sql from './tool-approvals.sql.js';

/** An approval as operators see it, from when it is requested until an hour after it was decided. */
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
  /** The audit's name for them; null while it waits, as are the next two fields. */
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly reason: string | null;
}

/** Which approvals somebody sees. */
export interface SeenApprovals {
  /** Null for those of every user. */
  readonly userId: string | null;
  /** Absent for those of every agent. */
  readonly agents?: readonly string[] | undefined;
}

/** Looks up tool calls that wait for a person, or did. */
@Injectable()
export class ToolApprovalRecords {
  constructor(private readonly database: Database) {}

  /** Newest first, those after this time and id. */
  async page(
    [at, id]: readonly [at: string, id: string],
    status: ApprovalRecord['status'],
    seen: SeenApprovals,
    most: number,
  ): Promise<ApprovalRecord[]> {
    return (await this.database.query(sql.PAGE, { ...seenParams(seen), at, id, status, most })).map(toRecord);
  }

  /** How many calls wait, and since when the oldest does. */
  async waiting(): Promise<{ readonly count: number; readonly oldest: Date | null }> {
    const [row] = await this.database.query(sql.WAITING);
    return row ?? { count: 0, oldest: null };
  }

  /** A call that waits or was decided; undefined once nobody can decide about it any more. */
  async find(id: string, seen: SeenApprovals): Promise<ApprovalRecord | undefined> {
    const [row] = await this.database.query(sql.FIND, { ...seenParams(seen), id });
    return row && toRecord(row);
  }
}

function seenParams({ userId, agents }: SeenApprovals) {
  return { user: userId, agents: agents ?? null };
}

function toRecord(row: RowOfStatement<typeof sql.FIND>): ApprovalRecord {
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
