import { Module } from '@nestjs/common';
import { scrapedGauge } from '../../platform/metrics/scrape.service.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { SkillReadTool } from './skill-read.tool.js';
import { Skills } from './skills.service.js';
import { SkillsPrompt } from './skills-prompt.js';
import { SkillsWatch } from './skills-watch.service.js';

/** Skills. */
@Module({
  imports: [ToolsModule, PluginsModule],
  providers: [
    Skills,
    SkillsWatch,
    SkillsPrompt,
    SkillReadTool,
    ...scrapedGauge(
      {
        name: 'agent_gateway_skills_failed',
        help: 'Skills that this replica could not load, or whose newest version failed to load.',
      },
      Skills,
      (skills) => skills.failed().length,
    ),
  ],
  exports: [Skills],
})
export class SkillsModule {}
