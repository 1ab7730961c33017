import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { McpServer, McpServerStatus, McpTool } from '../mcp-server.js';

const STATUS_LABELS = {
  connected: 'running',
  reconnecting: 'reconnecting',
  disconnected: 'disconnected',
} as const satisfies Record<McpServerStatus, string>;
type McpStatusA = (typeof STATUS_LABELS)[McpServerStatus];

export class McpServerItemViewA {
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

export class McpServerListViewA {
  @ApiProperty({ type: [McpServerItemViewA] })
  servers!: McpServerItemViewA[];
}

export class McpToolItemViewA {
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

export class McpToolListViewA {
  @ApiProperty({ type: [McpToolItemViewA] })
  tools!: McpToolItemViewA[];

  @ApiProperty({ type: 'integer' })
  total!: number;
}

export function presentMcpServersA(servers: readonly McpServer[]): McpServerListViewA {
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

export function presentMcpToolsA(tools: readonly McpTool[]): McpToolListViewA {
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
