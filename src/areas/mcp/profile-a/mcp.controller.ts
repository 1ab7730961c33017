import { Get } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import type { McpServer, McpServerStatus, McpTool } from '../mcp-server.js';
import { McpServers } from '../mcp-servers.service.js';

const STATUS_LABELS = {
  connected: 'running',
  reconnecting: 'reconnecting',
  disconnected: 'disconnected',
} as const satisfies Record<McpServerStatus, string>;
type McpStatusA = (typeof STATUS_LABELS)[McpServerStatus];

class McpServerItemViewA {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: Object.values(STATUS_LABELS) })
  status!: McpStatusA;

  @ApiProperty({ type: [String] })
  tools!: string[];

  @ApiPropertyOptional({ description: 'Why it is not connected; present after a failed attempt' })
  error?: string;

  @ApiPropertyOptional({ description: 'Present when it runs without the sandbox that it should have' })
  warning?: string;
}

class McpServerListViewA {
  @ApiProperty({ type: [McpServerItemViewA] })
  servers!: McpServerItemViewA[];
}

class McpToolItemViewA {
  @ApiProperty({ example: 'files__read_file', description: 'The name that models see' })
  name!: string;

  @ApiProperty()
  server!: string;

  @ApiProperty()
  tool!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: 'object', additionalProperties: true })
  input_schema!: Readonly<Record<string, unknown>>;
}

class McpToolListViewA {
  @ApiProperty({ type: [McpToolItemViewA] })
  tools!: McpToolItemViewA[];

  @ApiProperty({ type: 'integer' })
  total!: number;
}

function presentMcpServersA(servers: readonly McpServer[]): McpServerListViewA {
  return {
    servers: servers.map(({ name, status, tools, error, warning }) => ({
      name,
      status: STATUS_LABELS[status],
      tools: tools.map(({ tool }) => tool),
      ...(error === undefined ? {} : { error }),
      ...(warning === undefined ? {} : { warning }),
    })),
  };
}

function presentMcpToolsA(tools: readonly McpTool[]): McpToolListViewA {
  return {
    tools: tools.map(({ name, server, tool, description, inputSchema }) => ({
      name,
      server,
      tool,
      description,
      input_schema: inputSchema,
    })),
    total: tools.length,
  };
}

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
