import { Module } from '@nestjs/common';
import { scrapedGauge, statusSamples } from '../../platform/metrics/scrape.service.js';
import { AssertionsModule } from '../assertions/assertions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { Connections } from './connection/connections.js';
import {
  UserConnectionMetrics,
  userConnectionMetricProviders,
} from './connection/user-connection-metrics.js';
import { TokenExchange } from './identity/token-exchange.js';
import { ToolIdentity } from './identity/tool-identity.js';
import { McpDirectory } from './mcp-directory.service.js';
import { MCP_SERVER_STATUSES } from './mcp-server.js';
import { McpServers } from './mcp-servers.service.js';
import { PromptCommands } from './prompts/prompt-commands.js';
import { FolderEraser } from './sandbox/folder-eraser.service.js';
import { Sandbox } from './sandbox/sandbox.service.js';
import { UserFolders } from './sandbox/user-folders.js';
import { KnownTools } from './tools/known-tools.store.js';
import { Transports } from './transport/transports.js';

/** Tool servers (MCP). */
@Module({
  imports: [AssertionsModule, ToolsModule],
  providers: [
    Sandbox,
    UserFolders,
    TokenExchange,
    ToolIdentity,
    Transports,
    ...userConnectionMetricProviders,
    UserConnectionMetrics,
    KnownTools,
    Connections,
    McpServers,
    PromptCommands,
    FolderEraser,
    McpDirectory,
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
    ...scrapedGauge(
      {
        name: 'agent_gateway_mcp_user_connections',
        help: 'Connections of users and sessions to each MCP server on this replica, by whether they make a call.',
        labelNames: ['server', 'state'],
      },
      McpServers,
      (servers) => servers.userConnections(),
    ),
  ],
  exports: [McpServers, McpDirectory, Sandbox],
})
export class McpModule {}
