import { Get } from '@nestjs/common';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { McpServers } from '../mcp-servers.service.js';
import { McpServerListViewA, McpToolListViewA, presentMcpServersA, presentMcpToolsA } from './mcp.views.js';

/** Tool servers in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('mcp')
export class McpControllerA {
  constructor(private readonly mcp: McpServers) {}

  @Get('servers')
  @Does('List tool servers')
  @RequireScope('mcp:read')
  @Answers(200, 'All tool servers', McpServerListViewA)
  servers(): McpServerListViewA {
    return presentMcpServersA(this.mcp.list());
  }

  @Get('tools')
  @Does('List tools', 'All tools of all servers that are connected, under the names that models see.')
  @RequireScope('mcp:read')
  @Answers(200, 'All tools of all servers', McpToolListViewA)
  tools(): McpToolListViewA {
    return presentMcpToolsA(this.mcp.tools());
  }
}
