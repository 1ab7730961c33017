import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Page } from '../../../http/paging/keyset-list.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import {
  Count,
  isoOrNull,
  Moment,
  MomentOrNull,
  NextCursor,
  TextOrNull,
} from '../../../http/paging/page-view.js';
import { Optional, TextLength } from '../../../http/validation/field.decorator.js';
import { TextFilter, WordFilter } from '../../../http/validation/filter.decorator.js';
import type { McpServerReport } from '../mcp-directory.service.js';
import { MCP_SERVER_STATUSES, type McpServerStatus } from '../mcp-server.js';
import type { KnownTool } from '../tools/known-tools.store.js';
import { fingerprintOf } from '../tools/tool-listing.js';

const BOOLEANS = ['true', 'false'] as const;

export class KnownToolsQuery extends PageQuery {
  @TextFilter('The name of the server')
  server?: string;

  @WordFilter(BOOLEANS, '`true`: only those in quarantine')
  quarantined?: (typeof BOOLEANS)[number];
}

/** POST /admin/v1/mcp/servers/:name/approve. */
export class ApproveToolsRequest {
  @ApiPropertyOptional({
    description: 'The tool, by the name that the server gives it; all of them unless given',
  })
  @Optional()
  @TextLength(1, 512)
  tool?: string;

  @ApiPropertyOptional({
    description: 'Of what was looked at, as the list has it: a definition that changed since is 409',
  })
  @Optional()
  @TextLength(64, 64)
  fingerprint?: string;
}

export const APPROVE_EXAMPLES = {
  all: { summary: 'All tools of the server, as they are now', value: {} },
  one: { summary: 'One tool', value: { tool: 'read_file' } },
};

export class McpServerStateView {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: [...MCP_SERVER_STATUSES] })
  status!: McpServerStatus;
}

class UserConnectionsView {
  @Count('That make a call')
  busy!: number;

  @Count()
  idle!: number;
}

class PromptArgumentView {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty()
  required!: boolean;
}

class ServerPromptView {
  @ApiProperty({ description: 'What people write: `/server-prompt`, then its arguments' })
  command!: string;

  @ApiProperty({ description: 'By the name that the server gives it' })
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [PromptArgumentView] })
  arguments!: PromptArgumentView[];
}

/** POST /admin/v1/mcp/servers/:name/sign-in. */
export class SignInLinkView {
  @ApiProperty()
  name!: string;

  @ApiProperty({ format: 'uri', description: 'The page to open in a browser' })
  url!: string;

  @ApiProperty({ description: 'The authorization server that asks there, by its own name' })
  issuer!: string;

  @TextOrNull('The scopes that are asked for; null for whatever that server gives')
  scope!: string | null;

  @Moment('When the link ends')
  expires_at!: string;
}

const SIGN_INS = ['none', 'needed', 'signed_in'] as const;

export class AdminMcpServerView extends McpServerStateView {
  @ApiProperty({ enum: ['stdio', 'http', 'sse'] })
  transport!: string;

  @MomentOrNull()
  connected_at!: string | null;

  @TextOrNull('Why it is not connected')
  error!: string | null;

  @TextOrNull('That it runs without the sandbox that it should have, or that prompts of it are left out')
  warning!: string | null;

  @ApiProperty({ type: [String], description: 'What it offers, by its own names' })
  tools!: string[];

  @ApiProperty({ type: [ServerPromptView], description: 'What people may ask for' })
  prompts!: ServerPromptView[];

  @ApiProperty({ description: 'Connections of users and sessions on this replica' })
  connections!: UserConnectionsView;

  @ApiProperty({ type: [String], description: 'Tools that wait for approval, by its own names' })
  quarantined!: readonly string[];

  @ApiProperty({
    enum: [...SIGN_INS],
    description:
      '`needed`: somebody has to sign in before it can be connected to; `none`: the server has no `oauth_sign_in`',
  })
  sign_in!: (typeof SIGN_INS)[number];

  @TextOrNull('The operator who asked for the link with which somebody signed in')
  signed_in_by!: string | null;

  @MomentOrNull()
  signed_in_at!: string | null;
}

export class AdminMcpServerPageView {
  @ApiProperty({ type: [AdminMcpServerView], description: 'By name' })
  items!: AdminMcpServerView[];

  @NextCursor()
  next_cursor!: string | null;
}

class KnownToolView {
  @ApiProperty()
  server!: string;

  @ApiProperty()
  tool!: string;

  @ApiProperty({ enum: ['approved', 'quarantined'] })
  state!: 'approved' | 'quarantined';

  @Moment()
  first_seen_at!: string;

  @MomentOrNull()
  changed_at!: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'As it was approved' })
  definition!: object;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'As it is now; null unless it is in quarantine',
  })
  pending!: object | null;

  @TextOrNull('Of the pending definition')
  fingerprint!: string | null;
}

export class KnownToolPageView {
  @ApiProperty({ type: [KnownToolView], description: 'By server and name' })
  items!: KnownToolView[];

  @NextCursor()
  next_cursor!: string | null;
}

export class ApprovedToolsView {
  @ApiProperty({ type: [String], description: 'Those that were in quarantine' })
  approved!: readonly string[];
}

export function presentServerPage({ items, nextCursor }: Page<McpServerReport>): AdminMcpServerPageView {
  return { items: items.map(presentServer), next_cursor: nextCursor };
}

function presentServer(server: McpServerReport): AdminMcpServerView {
  return {
    name: server.name,
    status: server.status,
    transport: server.transport,
    connected_at: isoOrNull(server.connectedAt),
    error: server.error ?? null,
    warning: server.warning ?? null,
    tools: server.tools.map(({ tool }) => tool),
    prompts: server.prompts.map(({ command, name, description, arguments: given }) => ({
      ...{ command: `/${command}`, name, description },
      arguments: given.map((one) => ({
        name: one.name,
        description: one.description,
        required: one.isRequired,
      })),
    })),
    connections: { busy: server.connections.busy, idle: server.connections.idle },
    quarantined: server.quarantined,
    ...presentSignIn(server.signIn),
  };
}

function presentSignIn(
  signIn: McpServerReport['signIn'],
): Pick<AdminMcpServerView, 'sign_in' | 'signed_in_by' | 'signed_in_at'> {
  if (signIn === undefined) return { sign_in: 'none', signed_in_by: null, signed_in_at: null };
  const { isSignedIn, by, at } = signIn;
  return { sign_in: isSignedIn ? 'signed_in' : 'needed', signed_in_by: by, signed_in_at: isoOrNull(at) };
}

export function presentToolPage({ items, nextCursor }: Page<KnownTool>): KnownToolPageView {
  return { items: items.map(presentTool), next_cursor: nextCursor };
}

function presentTool({
  server,
  tool,
  firstSeenAt,
  changedAt,
  definition,
  pending,
}: KnownTool): KnownToolView {
  return {
    server,
    tool,
    state: pending === null ? 'approved' : 'quarantined',
    first_seen_at: firstSeenAt.toISOString(),
    changed_at: isoOrNull(changedAt),
    definition,
    pending,
    fingerprint: pending === null ? null : fingerprintOf(pending),
  };
}
