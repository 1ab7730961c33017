import { Body, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does, Refuses } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { McpDirectory } from '../mcp-directory.service.js';
import { McpServers } from '../mcp-servers.service.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import {
  AdminMcpServerPageView,
  APPROVE_EXAMPLES,
  ApprovedToolsView,
  ApproveToolsRequest,
  KnownToolPageView,
  KnownToolsQuery,
  McpServerStateView,
  presentServerPage,
  presentToolPage,
  SignInLinkView,
} from './mcp.views.js';

/** Tool servers (docs/specification/additions.md, Operators' API). */
@AdminController('mcp')
export class AdminMcpController {
  constructor(
    private readonly directory: McpDirectory,
    private readonly servers: McpServers,
    private readonly signIns: SignInService,
  ) {}

  @Get('servers')
  @Does('List tool servers', 'By name, as the replica that answers sees them.')
  @AdminScope('mcp:read')
  @Answers(200, 'A page of tool servers, by name', AdminMcpServerPageView)
  async list(@Query() query: PageQuery, @CurrentCaller() caller: Caller): Promise<AdminMcpServerPageView> {
    refuseSomeAgents('tool servers are those', caller);
    return presentServerPage(await this.directory.list(query));
  }

  @Get('tools')
  @Does(
    'List the tools that servers ever offered',
    'By server and name, with what changed in those in quarantine.',
  )
  @AdminScope('mcp:read')
  @Answers(200, 'A page of tools, by server and name', KnownToolPageView)
  async tools(
    @Query() { quarantined, ...query }: KnownToolsQuery,
    @CurrentCaller() caller: Caller,
  ): Promise<KnownToolPageView> {
    return presentToolPage(
      await this.directory.tools({ ...query, quarantined: quarantined === 'true' }, caller),
    );
  }

  @Post('servers/:name/reconnect')
  @Does(
    'Reconnect a tool server',
    'Answers at once; the server reconnects in the background, on this replica.',
  )
  @HttpCode(200)
  @AdminScope('mcp:write')
  @Answers(200, 'The server is reconnecting', McpServerStateView)
  async reconnect(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<McpServerStateView> {
    refuseSomeAgents('tool servers are those', caller);
    return this.servers.reconnect(name);
  }

  @Post('servers/:name/approve')
  @Does('Enable changed tools', 'As they are now, or as they were looked at: then with `fingerprint`.')
  @HttpCode(200)
  @AdminScope('mcp:write')
  @TakesJsonBody()
  @ApiBody({ type: ApproveToolsRequest, examples: APPROVE_EXAMPLES })
  @Answers(200, 'Every replica offers them again', ApprovedToolsView)
  async approve(
    @Param('name') name: string,
    @Body() body: ApproveToolsRequest,
    @CurrentCaller() caller: Caller,
  ): Promise<ApprovedToolsView> {
    return { approved: await this.directory.approve(name, body, caller) };
  }

  @Post('servers/:name/sign-in')
  @Does(
    'Create a link to sign in to a tool server',
    'Answers with the page at which a person signs in, with a browser, within ten minutes. All calls of the gateway to that server then have that ' +
      "person's rights. A link takes the place of an earlier one; the tokens of an earlier sign-in stay until it is used.",
  )
  @HttpCode(201)
  @AdminScope('security:write')
  @Answers(201, 'The link to open', SignInLinkView)
  @Refuses(409, 502)
  async signIn(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<SignInLinkView> {
    refuseSomeAgents('tool servers are those', caller);
    const { url, issuer, scope = null, endsAt } = await this.signIns.begin(name);
    return { name, url, issuer, scope, expires_at: endsAt.toISOString() };
  }

  @Delete('servers/:name/sign-in')
  @Does(
    'End the sign-in to a tool server',
    'Forgets the tokens on all replicas, and revokes them where the authorization server lets them be revoked.',
  )
  @HttpCode(204)
  @AdminScope('security:write')
  @Answers(204, 'Nobody is signed in')
  async signOut(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<void> {
    refuseSomeAgents('tool servers are those', caller);
    await this.signIns.end(name);
  }
}
