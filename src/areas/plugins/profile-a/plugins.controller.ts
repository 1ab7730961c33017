import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { Plugin } from '../plugin.js';
import { Plugins } from '../plugins.service.js';

const BYTES_PER_MB = 1_048_576;

class PluginItemViewA {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  version!: string;

  @ApiProperty()
  enabled!: boolean;

  @ApiProperty({ example: 'tool' })
  type!: string;

  @ApiProperty({ type: 'integer', description: 'Rounded up' })
  memory_usage_mb!: number;

  @ApiPropertyOptional({ description: 'Why it could not be loaded; present only then' })
  error?: string;
}

class PluginListViewA {
  @ApiProperty({ type: [PluginItemViewA] })
  plugins!: PluginItemViewA[];
}

function presentPluginA(plugin: Plugin): PluginItemViewA {
  return {
    name: plugin.name,
    version: plugin.version,
    enabled: plugin.status === 'loaded',
    type: plugin.type,
    memory_usage_mb: Math.ceil(plugin.memoryBytes / BYTES_PER_MB),
    ...(plugin.error === undefined ? {} : { error: plugin.error }),
  };
}

function presentPluginListA(plugins: readonly Plugin[]): PluginListViewA {
  return { plugins: plugins.map(presentPluginA) };
}

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
