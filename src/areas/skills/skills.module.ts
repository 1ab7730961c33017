import { Module } from '@nestjs/common';
import { PluginsModule } from '../plugins/plugins.module.js';
import { AgentModule } from '../turns/agent.module.js';
import { FailedSkillsGauge } from './failed-skills-gauge.js';
import { SkillReadTool } from './skill-read.tool.js';
import { Skills } from './skills.service.js';
import { SkillsPrompt } from './skills-prompt.js';
import { SkillsWatch } from './skills-watch.service.js';

/** Skills. */
@Module({
  imports: [AgentModule, PluginsModule],
  providers: [
    Skills,
    SkillsWatch,
    SkillsPrompt,
    SkillReadTool,
    FailedSkillsGauge.provider,
    FailedSkillsGauge,
  ],
  exports: [Skills],
})
export class SkillsModule {}
