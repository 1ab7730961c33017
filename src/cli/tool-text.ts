import type { KnownTool } from '../areas/mcp/tools/known-tools.store.js';
import type { OpenApproval } from '../areas/tools/tool-approvals.port.js';

/** A tool as `--json` shows it: the approved definition and, in quarantine, the pending one. */
export function knownToolJson(known: KnownTool): Readonly<Record<string, unknown>> {
  return {
    server: known.server,
    tool: known.tool,
    state: known.pending === null ? 'approved' : 'quarantined',
    first_seen_at: known.firstSeenAt.toISOString(),
    changed_at: known.changedAt?.toISOString() ?? null,
    definition: known.definition,
    pending: known.pending,
  };
}

/** One line for a tool; for one in quarantine also each changed part before and after. */
export function knownToolText({ server, tool, definition, pending }: KnownTool): string {
  if (pending === null) return `approved     ${server} ${tool}\n`;
  const parts = (['description', 'inputSchema', 'annotations'] as const)
    .filter((part) => JSON.stringify(definition[part]) !== JSON.stringify(pending[part]))
    .map((part) => `  ${part}\n  - ${printable(definition[part])}\n  + ${printable(pending[part])}\n`);
  return `quarantined  ${server} ${tool}\n${parts.join('')}`;
}

export function approvalJson(approval: OpenApproval): Readonly<Record<string, unknown>> {
  return {
    id: approval.id,
    tool: approval.tool,
    arguments: approval.arguments,
    session_id: approval.sessionId,
    channel: approval.channel,
    user_id: approval.userId,
    asked_at: approval.askedAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
  };
}

export function approvalText({ id, tool, arguments: args, userId, expiresAt }: OpenApproval): string {
  const until = expiresAt.toISOString().slice(11, 19);
  return `${id}  ${tool} for "${printable(userId)}", until ${until}Z\n  ${printable(args)}\n`;
}

/** Text from a server or a model must not control the terminal. */
function printable(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\p{C}/gu, '?');
}
