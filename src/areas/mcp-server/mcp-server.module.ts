import { Module } from '@nestjs/common';
import { IdentityModule } from '../../platform/identity/identity.module.js';
import { LiveModule } from '../live/live.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { AskTools } from './ask-tools.service.js';
import { AskedTurns } from './asked-turns.service.js';
import { ExposedTools } from './exposed-tools.service.js';
import { McpEndpoint } from './mcp-endpoint.service.js';
import { ResumedCalls } from './resumed-calls.service.js';
import { McpServerController } from './wire/mcp.controller.js';
import { McpHandlers } from './wire/mcp.handlers.js';
import { ResourceMetadataController } from './wire/resource-metadata.controller.js';

/** The face `mcp`: agents, and tools when the operator wants it, for MCP clients. */
@Module({
  imports: [SessionsModule, TurnsModule, LiveModule, ToolsModule, IdentityModule],
  controllers: [McpServerController, ResourceMetadataController],
  providers: [AskedTurns, AskTools, ExposedTools, McpEndpoint, ResumedCalls, McpHandlers],
})
export class McpServerModule {}
