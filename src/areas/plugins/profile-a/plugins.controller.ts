import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { Plugins } from '../plugins.service.js';
import { PluginItemViewA, PluginListViewA, presentPluginA, presentPluginListA } from './plugins.views.js';

/** Plugins in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('plugins')
export class PluginsControllerA {
  constructor(private readonly plugins: Plugins) {}

  @Get()
  @Does('List plugins')
  @RequireScope('plugins:read')
  @Answers(200, 'All plugins', PluginListViewA)
  list(): PluginListViewA {
    return presentPluginListA(this.plugins.list());
  }

  @Post(':name/enable')
  @Does('Enable a plugin', 'Does nothing when it is enabled already.')
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin', PluginItemViewA)
  async enable(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<PluginItemViewA> {
    return presentPluginA(await this.plugins.enable(name, caller.tokenName));
  }

  @Post(':name/disable')
  @Does('Disable a plugin', 'Does nothing when it is disabled already.')
  @HttpCode(200)
  @RequireScope('plugins:write')
  @Answers(200, 'The plugin', PluginItemViewA)
  async disable(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<PluginItemViewA> {
    return presentPluginA(await this.plugins.disable(name, caller.tokenName));
  }
}
