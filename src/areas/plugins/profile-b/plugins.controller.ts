import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { PLUGIN_STATUSES, type Plugin, type PluginStatus } from '../plugin.js';
import { Plugins } from '../plugins.service.js';

class DisabledPluginViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: PLUGIN_STATUSES })
  status!: PluginStatus;
}

class ReloadedPluginViewB extends DisabledPluginViewB {
  @ApiProperty()
  version!: string;
}

class PluginItemViewB extends ReloadedPluginViewB {
  @ApiProperty({ type: [String], example: ['tool:get_weather'] })
  capabilities!: string[];

  @ApiProperty({ type: 'integer' })
  memory_usage_bytes!: number;

  @ApiPropertyOptional({ description: 'Why it could not be loaded; present when failed' })
  error?: string;
}

class PluginListViewB {
  @ApiProperty({ type: [PluginItemViewB] })
  plugins!: PluginItemViewB[];
}

function presentPluginListB(plugins: readonly Plugin[]): PluginListViewB {
  return {
    plugins: plugins.map(({ name, version, status, capabilities, memoryBytes, error }) => ({
      name,
      version,
      status,
      capabilities: [...capabilities],
      memory_usage_bytes: memoryBytes,
      ...(error === undefined ? {} : { error }),
    })),
  };
}

function presentReloadedPluginB({ name, status, version }: Plugin): ReloadedPluginViewB {
  return { name, status, version };
}

function presentDisabledPluginB({ name, status }: Plugin): DisabledPluginViewB {
  return { name, status };
}

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
