import { Module } from '@nestjs/common';
import { McpModule } from '../mcp/mcp.module.js';
import { ModelsModule } from '../models/models.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { SkillsModule } from '../skills/skills.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { AgentChecks } from './agent-checks.service.js';
import { AgentDirectory } from './agent-directory.service.js';
import { AgentReferences } from './agent-references.service.js';

/** What operators see of agents. */
@Module({
  imports: [McpModule, ModelsModule, PluginsModule, SkillsModule, ToolsModule, TurnsModule],
  providers: [AgentReferences, AgentDirectory, AgentChecks],
  exports: [AgentDirectory, AgentChecks],
})
export class AgentsModule {}
