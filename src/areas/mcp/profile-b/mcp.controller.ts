import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { McpServers } from '../mcp-servers.service.js';
import { McpServerListViewB, presentMcpServersB, ReconnectedMcpServerViewB } from './mcp.views.js';

/** Tool servers in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('mcp')
export class McpControllerB {
  constructor(private readonly mcp: McpServers) {}

  @Get()
  @Does('List tool servers')
  @RequireScope('mcp:read')
  @Answers(200, 'All tool servers', McpServerListViewB)
  list(): McpServerListViewB {
    return presentMcpServersB(this.mcp.list());
  }

  @Post(':name/reconnect')
  @Does('Reconnect a tool server', 'Answers at once; the server reconnects in the background.')
  @HttpCode(200)
  @RequireScope('mcp:write')
  @Answers(200, 'The server is reconnecting', ReconnectedMcpServerViewB)
  reconnect(@Param('name') name: string): ReconnectedMcpServerViewB {
    return this.mcp.reconnect(name);
  }
}
