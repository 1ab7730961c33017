import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { Plugins } from '../plugins.service.js';
import {
  DisabledPluginViewB,
  PluginListViewB,
  presentDisabledPluginB,
  presentPluginListB,
  presentReloadedPluginB,
  ReloadedPluginViewB,
} from './plugins.views.js';

/** Plugins in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('plugins')
export class PluginsControllerB {
  constructor(private readonly plugins: Plugins) {}

  @Get()
  @Does('List plugins')
  @RequireScope('plugins:read')
  @Answers(200, 'All plugins', PluginListViewB)
  list(): PluginListViewB {
    return presentPluginListB(this.plugins.list());
  }

  @Post(':name/reload')
  @Does(
    'Reload a plugin',
    'Loads its file again and enables it. If that fails, the previous version goes on serving.',
  )
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin, loaded again', ReloadedPluginViewB)
  async reload(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<ReloadedPluginViewB> {
    return presentReloadedPluginB(await this.plugins.reload(name, caller.tokenName));
  }

  @Post(':name/disable')
  @Does('Disable a plugin', 'The plugin is not unloaded; reloading it brings it back.')
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin, disabled', DisabledPluginViewB)
  async disable(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<DisabledPluginViewB> {
    return presentDisabledPluginB(await this.plugins.disable(name, caller.tokenName));
  }
}
