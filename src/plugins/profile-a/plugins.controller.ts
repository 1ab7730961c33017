import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { RequireScope } from '../../edge/access.decorator.js';
import { Answers } from '../../edge/answers.decorator.js';
import { ProfileAController } from '../../profiles/profile.js';
import { Plugins } from '../plugins.service.js';
import { PluginItemViewA, PluginListViewA, presentPluginA, presentPluginListA } from './plugins.views.js';

/** Plugins in Profile A (specification 4.1). */
@ProfileAController('plugins')
export class PluginsControllerA {
  constructor(private readonly plugins: Plugins) {}

  @Get()
  @RequireScope('plugins:read')
  @Answers(200, 'All plugins', PluginListViewA)
  list(): PluginListViewA {
    return presentPluginListA(this.plugins.list());
  }

  @Post(':name/enable')
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin', PluginItemViewA)
  enable(@Param('name') name: string): PluginItemViewA {
    return presentPluginA(this.plugins.get(name));
  }

  @Post(':name/disable')
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin', PluginItemViewA)
  disable(@Param('name') name: string): PluginItemViewA {
    return presentPluginA(this.plugins.get(name));
  }
}
