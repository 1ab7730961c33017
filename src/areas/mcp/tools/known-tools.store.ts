import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit-log/audit-log.js';
import { Database } from '../../../platform/database/database.js';
import { storableText } from '../../../platform/database/storable-text.js';
import * as sql from './known-tools.sql.js';
import { fingerprintOf, type ToolDefinition } from './tool-definition.js';

/** A tool as it is known, and, when it is quarantined, as it wants to be now. */
export interface KnownTool {
  readonly server: string;
  readonly tool: string;
  readonly firstSeenAt: Date;
  readonly changedAt: Date | null;
  readonly definition: ToolDefinition;
  /** Set while the tool is in quarantine. */
  readonly pending: ToolDefinition | null;
}

interface KnownRow {
  server: string;
  tool: string;
  first_seen_at: Date;
  changed_at: Date | null;
  definition: ToolDefinition;
  pending_definition: ToolDefinition | null;
}

/** Remembers what every tool said of itself when it was first seen, or when an operator approved it last. */
@Injectable()
export class KnownTools {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Compares a server's tools with what is known of them: new ones become known, changed ones are quarantined, and
   * those that are again as they were are not any more.
   * @returns the names of those in quarantine
   */
  async reconcile(server: string, definitions: readonly ToolDefinition[]): Promise<ReadonlySet<string>> {
    if (definitions.length === 0) return new Set();
    const seen = definitions.map((definition) => ({
      tool: definition.name,
      fingerprint: fingerprintOf(definition),
      definition,
    }));
    const text = storableText(JSON.stringify(seen)).replaceAll('\\u0000', '\\ufffd');
    const rows = await this.database.query<{ tool: string; newly: boolean }>(sql.RECONCILE, [server, text]);
    for (const { tool } of rows.filter(({ newly }) => newly)) {
      const act = { action: 'tool.quarantine', actor: `mcp:${server}`, target: tool, outcome: 'quarantined' };
      await this.audit.record(act);
    }
    return new Set(rows.map(({ tool }) => tool));
  }

  /** @returns whether one of these tools of a server is in quarantine no longer */
  async isAnyFree(server: string, tools: readonly string[]): Promise<boolean> {
    return (await this.database.query(sql.FREED, [server, tools])).length > 0;
  }

  /** All of them, by server and name; the quarantined only when asked. */
  async list(quarantinedOnly: boolean): Promise<readonly KnownTool[]> {
    const rows = await this.database.query<KnownRow>(sql.LIST, [quarantinedOnly]);
    return rows.map((row) => ({
      server: row.server,
      tool: row.tool,
      firstSeenAt: row.first_seen_at,
      changedAt: row.changed_at,
      definition: row.definition,
      pending: row.pending_definition,
    }));
  }

  /** Whether a tool of a server, or any of it, was ever seen. */
  async hasSeen(server: string, tool: string | undefined): Promise<boolean> {
    return (await this.database.query(sql.SEEN, [server, tool ?? null])).length > 0;
  }

  /** Takes tools as they are now: one of a server, or all of it. @returns those that were in quarantine */
  approve(server: string, tool: string | undefined, by: string): Promise<readonly string[]> {
    return this.database.transaction(async (runner) => {
      const rows = await runner.query<{ tool: string }>(sql.APPROVE, [server, tool ?? null]);
      for (const { tool: target } of rows) {
        const details = { server };
        await this.audit.write(runner, {
          action: 'tool.approve',
          actor: by,
          target,
          outcome: 'approved',
          details,
        });
      }
      return rows.map((row) => row.tool);
    });
  }
}
