import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { RequireScope } from '../../edge/access.decorator.js';
import { Answers } from '../../edge/answers.decorator.js';
import { ProfileBController } from '../../profiles/profile.js';
import { Plugins } from '../plugins.service.js';
import {
  DisabledPluginViewB,
  PluginListViewB,
  presentDisabledPluginB,
  presentPluginListB,
  presentReloadedPluginB,
  ReloadedPluginViewB,
} from './plugins.views.js';

/** Plugins in Profile B (specification 4.2). */
@ProfileBController('plugins')
export class PluginsControllerB {
  constructor(private readonly plugins: Plugins) {}

  @Get()
  @RequireScope('plugins:read')
  @Answers(200, 'All plugins', PluginListViewB)
  list(): PluginListViewB {
    return presentPluginListB(this.plugins.list());
  }

  @Post(':name/reload')
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin, loaded again', ReloadedPluginViewB)
  reload(@Param('name') name: string): ReloadedPluginViewB {
    return presentReloadedPluginB(this.plugins.get(name));
  }

  @Post(':name/disable')
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin, disabled', DisabledPluginViewB)
  disable(@Param('name') name: string): DisabledPluginViewB {
    return presentDisabledPluginB(this.plugins.get(name));
  }
}
