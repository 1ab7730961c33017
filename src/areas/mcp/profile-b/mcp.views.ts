import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { McpServer, McpServerStatus } from '../mcp-server.js';

const STATUS_LABELS = ['connected', 'reconnecting', 'disconnected'];

export class ReconnectedMcpServerViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: STATUS_LABELS })
  status!: McpServerStatus;
}

export class McpServerItemViewB extends ReconnectedMcpServerViewB {
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

export class McpServerListViewB {
  @ApiProperty({ type: [McpServerItemViewB] })
  servers!: McpServerItemViewB[];
}

export function presentMcpServersB(servers: readonly McpServer[]): McpServerListViewB {
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
