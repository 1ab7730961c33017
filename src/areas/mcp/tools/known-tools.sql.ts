import type { Statement } from '../../../platform/database/sql.js';

/** `$1` the server, `$2` its tools as JSON. Answers those that differ from what is approved. */
export const RECONCILE: Statement = {
  name: 'mcp_tools.look',
  text: `
    WITH seen AS (
      SELECT tool, fingerprint, definition
      FROM jsonb_to_recordset($2::jsonb) AS one (tool text, fingerprint text, definition jsonb)
    ), before AS (
      SELECT known.tool, known.pending_fingerprint FROM mcp_tools AS known JOIN seen ON seen.tool = known.tool
      WHERE known.server = $1
    ), kept AS (
      INSERT INTO mcp_tools AS known (server, tool, fingerprint, definition)
      SELECT $1, tool, fingerprint, definition FROM seen ORDER BY tool
      ON CONFLICT (server, tool) DO UPDATE SET
        pending_fingerprint = CASE WHEN known.fingerprint <> excluded.fingerprint THEN excluded.fingerprint END,
        pending_definition = CASE WHEN known.fingerprint <> excluded.fingerprint THEN excluded.definition END,
        changed_at = CASE WHEN known.fingerprint = excluded.fingerprint THEN known.changed_at
          WHEN known.pending_fingerprint = excluded.fingerprint THEN known.changed_at ELSE now() END
      WHERE known.fingerprint <> excluded.fingerprint OR known.pending_fingerprint IS NOT NULL
      RETURNING known.tool, known.pending_fingerprint
    )
    SELECT kept.tool, kept.pending_fingerprint IS DISTINCT FROM before.pending_fingerprint AS newly
    FROM kept LEFT JOIN before ON before.tool = kept.tool WHERE kept.pending_fingerprint IS NOT NULL`,
};

export const FREED: Statement = {
  name: 'mcp_tools.freed',
  text: 'SELECT 1 AS one FROM mcp_tools WHERE server = $1 AND tool = ANY ($2) AND pending_fingerprint IS NULL LIMIT 1',
};

export const LIST: Statement = {
  name: 'mcp_tools.list',
  text: `
    SELECT server, tool, first_seen_at, changed_at, definition, pending_definition FROM mcp_tools
    WHERE NOT $1::boolean OR pending_fingerprint IS NOT NULL ORDER BY server, tool LIMIT 10000`,
};

export const APPROVE: Statement = {
  name: 'mcp_tools.approve',
  text: `
    UPDATE mcp_tools SET fingerprint = pending_fingerprint, definition = pending_definition,
      pending_fingerprint = NULL, pending_definition = NULL
    WHERE server = $1 AND ($2::text IS NULL OR tool = $2) AND pending_fingerprint IS NOT NULL
    RETURNING tool`,
};

export const SEEN: Statement = {
  name: 'mcp_tools.seen',
  text: 'SELECT 1 AS one FROM mcp_tools WHERE server = $1 AND ($2::text IS NULL OR tool = $2) LIMIT 1',
};
