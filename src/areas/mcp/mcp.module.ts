import { Module } from '@nestjs/common';
import { ToolsModule } from '../tools/tools.module.js';
import { Connections } from './connection/connections.js';
import { McpServers } from './mcp-servers.service.js';
import { Sandbox } from './sandbox/sandbox.service.js';
import { ServerStateGauge } from './server-state-gauge.js';
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
    ServerStateGauge.provider,
    ServerStateGauge,
  ],
  exports: [McpServers, Sandbox],
})
export class McpModule {}
