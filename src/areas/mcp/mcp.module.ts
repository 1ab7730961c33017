import { Module } from '@nestjs/common';
import { scrapedGauge, statusSamples } from '../../platform/metrics/scrape.service.js';
import { ToolsModule } from '../tools/tools.module.js';
import { Connections } from './connection/connections.js';
import { MCP_SERVER_STATUSES } from './mcp-server.js';
import { McpServers } from './mcp-servers.service.js';
import { Sandbox } from './sandbox/sandbox.service.js';
import { KnownTools } from './tools/known-tools.store.js';
import { Transports } from './transport/transports.js';

/** Tool servers (MCP). */
@Module({
  imports: [ToolsModule],
  providers: [
    Sandbox,
    Transports,
    KnownTools,
    Connections,
    McpServers,
    ...scrapedGauge(
      {
        name: 'agent_gateway_mcp_server_status',
        help: 'Status of each MCP server as this replica sees it: 1 for the one it has.',
        labelNames: ['server', 'status'],
      },
      McpServers,
      (servers) =>
        statusSamples(
          'server',
          MCP_SERVER_STATUSES,
          servers.list().map(({ name, status }) => [name, status]),
        ),
    ),
  ],
  exports: [McpServers, Sandbox],
})
export class McpModule {}
