import { Module } from '@nestjs/common';
import { scrapedGauge, statusSamples } from '../../platform/metrics/scrape.service.js';
import { AssertionsModule } from '../assertions/assertions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { Connections } from './connection/connections.js';
import {
  UserConnectionMetrics,
  userConnectionMetricProviders,
} from './connection/user-connection-metrics.js';
import { ProofKeys } from './dpop/proof-keys.js';
import { AuthorizationServers } from './identity/authorization-servers.js';
import { CrossAppTokens } from './identity/cross-app-tokens.js';
import { TokenExchange } from './identity/token-exchange.js';
import { ToolIdentity } from './identity/tool-identity.js';
import { WorkloadTokens } from './identity/workload-tokens.js';
import { McpDirectory } from './mcp-directory.service.js';
import { MCP_SERVER_STATUSES } from './mcp-server.js';
import { McpServers } from './mcp-servers.service.js';
import { PromptCommands } from './prompts/prompt-commands.js';
import { FolderEraser } from './sandbox/folder-eraser.service.js';
import { Sandbox } from './sandbox/sandbox.service.js';
import { UserFolders } from './sandbox/user-folders.js';
import { SignInService } from './sign-in/sign-in.service.js';
import { SignInWatch } from './sign-in/sign-in-watch.service.js';
import { SignIns } from './sign-in/sign-ins.store.js';
import { SignedInRequests } from './sign-in/signed-in-requests.js';
import { SignedInTokens } from './sign-in/signed-in-tokens.js';
import { KnownTools } from './tools/known-tools.store.js';
import { Transports } from './transport/transports.js';

/** Tool servers (MCP). */
@Module({
  imports: [AssertionsModule, ToolsModule],
  providers: [
    Sandbox,
    UserFolders,
    { provide: ProofKeys, useFactory: () => new ProofKeys() },
    AuthorizationServers,
    TokenExchange,
    CrossAppTokens,
    ToolIdentity,
    WorkloadTokens,
    SignIns,
    SignedInTokens,
    SignedInRequests,
    Transports,
    ...userConnectionMetricProviders,
    UserConnectionMetrics,
    KnownTools,
    Connections,
    McpServers,
    SignInWatch,
    SignInService,
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
  exports: [McpServers, McpDirectory, Sandbox, SignInService],
})
export class McpModule {}
