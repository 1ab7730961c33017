import { Injectable } from '@nestjs/common';
import { NotFound } from '../../../common/errors/gateway-error.js';
import { AuditLog } from '../../../platform/audit-log/audit-log.js';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  boolean,
  integer,
  jsonb,
  nullable,
  type RowOf,
  text,
  timestamp,
} from '../../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../../platform/database/statement.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { McpToolEntity } from './mcp-tool.entity.js';
import { fingerprintOf, type ToolDefinition } from './tool-listing.js';

/** The approved definition of a tool that was in quarantine from the start: nothing. */
const NEVER_APPROVED = '';
const NOTHING_SAID = `jsonb_build_object('name', tool, 'description', '', 'inputSchema', '{}'::jsonb, 'annotations', '{}'::jsonb)`;
const SEEN_NOW = 'coalesce(excluded.pending_fingerprint, excluded.fingerprint)';

/** With `pins`, tools that a known server adds later wait too. Returns the tools that differ from what is approved. */
const RECONCILE = statement({
  name: 'mcp_tools.reconcile',
  params: { server: text, seen: jsonb<unknown>(), pins: boolean },
  row: { tool: text, newly: boolean },
  sql: `
    WITH seen AS (
      SELECT tool, fingerprint, definition
      FROM jsonb_to_recordset(:seen::jsonb) AS one (tool text, fingerprint text, definition jsonb)
    ), before AS (
      SELECT known.tool, known.pending_fingerprint FROM mcp_tools AS known JOIN seen ON seen.tool = known.tool
      WHERE known.server = :server
    ), pinned AS (
      SELECT :pins::boolean AND EXISTS (SELECT 1 FROM mcp_tools WHERE server = :server) AS pinned
    ), kept AS (
      INSERT INTO mcp_tools AS known (server, tool, fingerprint, definition, pending_fingerprint, pending_definition)
      SELECT :server, tool, CASE WHEN pinned THEN '${NEVER_APPROVED}' ELSE fingerprint END,
        CASE WHEN pinned THEN ${NOTHING_SAID} ELSE definition END,
        CASE WHEN pinned THEN fingerprint END, CASE WHEN pinned THEN definition END
      FROM seen, pinned ORDER BY tool
      ON CONFLICT (server, tool) DO UPDATE SET
        pending_fingerprint = CASE WHEN known.fingerprint <> ${SEEN_NOW} THEN ${SEEN_NOW} END,
        pending_definition = CASE WHEN known.fingerprint <> ${SEEN_NOW} THEN coalesce(excluded.pending_definition, excluded.definition) END,
        changed_at = CASE WHEN known.fingerprint = ${SEEN_NOW} THEN known.changed_at
          WHEN known.pending_fingerprint = ${SEEN_NOW} THEN known.changed_at ELSE now() END
      WHERE known.fingerprint <> ${SEEN_NOW} OR known.pending_fingerprint IS NOT NULL
      RETURNING known.tool, known.pending_fingerprint
    )
    SELECT kept.tool, kept.pending_fingerprint IS DISTINCT FROM before.pending_fingerprint AS newly
    FROM kept LEFT JOIN before ON before.tool = kept.tool WHERE kept.pending_fingerprint IS NOT NULL`,
});

const RELEASED = statement({
  name: 'mcp_tools.released',
  params: { server: text, tools: arrayOf(text) },
  row: { one: integer },
  sql: 'SELECT 1 AS one FROM mcp_tools WHERE server = :server AND tool = ANY (:tools) AND pending_fingerprint IS NULL LIMIT 1',
});

const KNOWN = columnsOf(
  McpToolEntity,
  ...(['server', 'tool', 'firstSeenAt', 'changedAt', 'definition', 'pendingDefinition'] as const),
);
const LIST = statement({
  name: 'mcp_tools.list',
  params: { quarantined: boolean },
  row: KNOWN,
  sql: `
    SELECT server, tool, first_seen_at, changed_at, definition, pending_definition FROM mcp_tools
    WHERE NOT :quarantined::boolean OR pending_fingerprint IS NOT NULL ORDER BY server, tool LIMIT 10000`,
});

/** Those after a tool of a server, in their order. */
const PAGE = statement({
  name: 'mcp_tools.page',
  params: {
    after_server: text,
    after_tool: text,
    quarantined: boolean,
    server: nullable(text),
    most: bigint,
  },
  row: KNOWN,
  sql: `
    SELECT server, tool, first_seen_at, changed_at, definition, pending_definition FROM mcp_tools
    WHERE (server, tool) > (:after_server, :after_tool) AND (NOT :quarantined::boolean OR pending_fingerprint IS NOT NULL)
      AND (:server::text IS NULL OR server = :server)
    ORDER BY server, tool LIMIT :most`,
});

const QUARANTINED = statement({
  name: 'mcp_tools.quarantined',
  params: {},
  row: { server: text, tool: text, since: timestamp },
  sql: `
    SELECT server, tool, coalesce(changed_at, first_seen_at) AS since FROM mcp_tools WHERE pending_fingerprint IS NOT NULL
    ORDER BY server, tool LIMIT 1000`,
});

const APPROVE = statement({
  name: 'mcp_tools.approve_as_seen',
  params: { server: text, tool: nullable(text), fingerprint: nullable(text) },
  row: { tool: text },
  sql: `
    UPDATE mcp_tools SET fingerprint = pending_fingerprint, definition = pending_definition,
      pending_fingerprint = NULL, pending_definition = NULL
    WHERE server = :server AND (:tool::text IS NULL OR tool = :tool) AND pending_fingerprint IS NOT NULL
      AND (:fingerprint::text IS NULL OR pending_fingerprint = :fingerprint)
    RETURNING tool`,
});

const SEEN = statement({
  name: 'mcp_tools.seen',
  params: { server: text, tool: nullable(text) },
  row: { one: integer },
  sql: 'SELECT 1 AS one FROM mcp_tools WHERE server = :server AND (:tool::text IS NULL OR tool = :tool) LIMIT 1',
});

/** A tool as it was approved and, while it is in quarantine, as it is now. */
export interface KnownTool {
  readonly server: string;
  readonly tool: string;
  readonly firstSeenAt: Date;
  readonly changedAt: Date | null;
  readonly definition: ToolDefinition;
  /** Set while the tool is in quarantine. */
  readonly pending: ToolDefinition | null;
}

/** A tool that waits for an operator's approval. */
export type QuarantinedTool = RowOfStatement<typeof QUARANTINED>;

/** Stores the definition of every tool as first seen or last approved (docs/mcp.md, Quarantine). */
@Injectable()
export class KnownTools {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Compares a server's tools with the stored ones: new tools are stored, changed ones go into quarantine, and those that
   * match the approved definition again leave it. Each new quarantine is audited.
   * @param pinsNew whether new tools of a server that is known go into quarantine too
   * @returns the names of the tools in quarantine
   */
  async reconcile(
    server: string,
    definitions: readonly ToolDefinition[],
    pinsNew = false,
  ): Promise<ReadonlySet<string>> {
    if (definitions.length === 0) return new Set();
    const seen = definitions.map((definition) => ({
      tool: definition.name,
      fingerprint: fingerprintOf(definition),
      definition,
    }));
    const said = storableText(JSON.stringify(seen)).replaceAll('\\u0000', '\\ufffd');
    const rows = await this.database.query(RECONCILE, { server, seen: said, pins: pinsNew });
    for (const { tool } of rows.filter(({ newly }) => newly)) {
      const act = {
        action: 'tool.quarantined',
        actor: `mcp:${server}`,
        target: tool,
        outcome: 'quarantined',
      };
      await this.audit.record(act);
    }
    return new Set(rows.map(({ tool }) => tool));
  }

  /** @returns whether any of these tools of a server has left quarantine */
  async isAnyReleased(server: string, tools: readonly string[]): Promise<boolean> {
    return (await this.database.query(RELEASED, { server, tools })).length > 0;
  }

  /** Ordered by server and name, at most 10,000. */
  async list(quarantinedOnly: boolean): Promise<readonly KnownTool[]> {
    return (await this.database.query(LIST, { quarantined: quarantinedOnly })).map(toKnown);
  }

  /** Ordered by server and name, starting after these. */
  async page(
    [afterServer, afterTool]: readonly [server: string, tool: string],
    { quarantinedOnly, server }: { readonly quarantinedOnly: boolean; readonly server: string | undefined },
    most: number,
  ): Promise<readonly KnownTool[]> {
    const rows = await this.database.query(PAGE, {
      ...{ after_server: afterServer, after_tool: afterTool, most },
      ...{ quarantined: quarantinedOnly, server: server ?? null },
    });
    return rows.map(toKnown);
  }

  /** The names of what is in quarantine, and since when; at most 1000. */
  quarantined(): Promise<readonly QuarantinedTool[]> {
    return this.database.query(QUARANTINED);
  }

  /** Whether this tool of a server, or any tool of it, was ever seen. */
  async hasSeen(server: string, tool: string | undefined): Promise<boolean> {
    return (await this.database.query(SEEN, { server, tool: tool ?? null })).length > 0;
  }

  /**
   * Approves the current definition of one tool of a server, or of all its tools.
   * @param by who approves, where no request says it
   * @param fingerprint of the definition that was looked at: another one stays in quarantine
   * @returns those that were in quarantine
   */
  approve(
    server: string,
    tool: string | undefined,
    by?: string,
    fingerprint?: string,
  ): Promise<readonly string[]> {
    return this.database.transaction(async (runner) => {
      const which = { server, tool: tool ?? null, fingerprint: fingerprint ?? null };
      const rows = await runner.query(APPROVE, which);
      for (const { tool: target } of rows) {
        const act = { action: 'tool.approved', target, outcome: 'approved', details: { server } };
        await this.audit.write(runner, by === undefined ? act : { ...act, actor: by });
      }
      return rows.map((row) => row.tool);
    });
  }
}

function toKnown(row: RowOf<typeof KNOWN>): KnownTool {
  return {
    server: row.server,
    tool: row.tool,
    firstSeenAt: row.first_seen_at,
    changedAt: row.changed_at,
    definition: row.definition,
    pending: row.pending_definition,
  };
}

/** Nothing longer that a caller sent is repeated. */
const MAX_ECHOED = 64;

/** No gateway on this database ever saw this server or this tool of it. */
export class ToolNeverSeen extends NotFound {
  constructor(server: string, tool: string | undefined) {
    const which = tool === undefined ? '' : ` "${tool.slice(0, MAX_ECHOED)}"`;
    const what = `No tool${which} of a server "${server.slice(0, MAX_ECHOED)}"`;
    super(`${what} was ever seen. "agent-gateway tools list" shows those that were.`);
  }
}
