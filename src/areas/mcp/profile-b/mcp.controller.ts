import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { McpServer, McpServerStatus } from '../mcp-server.js';
import { McpServers } from '../mcp-servers.service.js';

const STATUS_LABELS = ['connected', 'reconnecting', 'disconnected'];

class ReconnectedMcpServerViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: STATUS_LABELS })
  status!: McpServerStatus;
}

class McpServerItemViewB extends ReconnectedMcpServerViewB {
  @ApiProperty({ enum: ['stdio', 'http', 'sse'] })
  transport!: string;

  @ApiProperty({ type: [String] })
  tools!: string[];

  @ApiPropertyOptional({ format: 'date-time', description: 'Present when connected' })
  connected_at?: string;

  @ApiPropertyOptional({ description: 'Why it is not connected; present after a failed attempt' })
  error?: string;

  @ApiPropertyOptional({ description: 'Present when it runs without the sandbox that it should have' })
  warning?: string;
}

class McpServerListViewB {
  @ApiProperty({ type: [McpServerItemViewB] })
  servers!: McpServerItemViewB[];
}

function presentMcpServersB(servers: readonly McpServer[]): McpServerListViewB {
  return {
    servers: servers.map(({ name, transport, status, tools, connectedAt, error, warning }) => ({
      name,
      transport,
      status,
      tools: tools.map(({ tool }) => tool),
      ...(connectedAt === undefined ? {} : { connected_at: connectedAt.toISOString() }),
      ...(error === undefined ? {} : { error }),
      ...(warning === undefined ? {} : { warning }),
    })),
  };
}

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
  async reconnect(
    @CurrentCaller() caller: Caller,
    @Param('name') name: string,
  ): Promise<ReconnectedMcpServerViewB> {
    refuseSomeAgents('tool servers are those', caller);
    return this.mcp.reconnect(name);
  }
}
