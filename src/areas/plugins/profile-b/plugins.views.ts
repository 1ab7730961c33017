import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { PLUGIN_STATUSES, type Plugin, type PluginStatus } from '../plugin.js';

export class DisabledPluginViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: PLUGIN_STATUSES })
  status!: PluginStatus;
}

export class ReloadedPluginViewB extends DisabledPluginViewB {
  @ApiProperty()
  version!: string;
}

export class PluginItemViewB extends ReloadedPluginViewB {
  @ApiProperty({ type: [String], example: ['tool:get_weather'] })
  capabilities!: string[];

  @ApiProperty({ type: 'integer' })
  memory_usage_bytes!: number;

  @ApiPropertyOptional({ description: 'Why it could not be loaded; present when failed' })
  error?: string;
}

export class PluginListViewB {
  @ApiProperty({ type: [PluginItemViewB] })
  plugins!: PluginItemViewB[];
}

export function presentPluginListB(plugins: readonly Plugin[]): PluginListViewB {
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

export function presentReloadedPluginB({ name, status, version }: Plugin): ReloadedPluginViewB {
  return { name, status, version };
}

export function presentDisabledPluginB({ name, status }: Plugin): DisabledPluginViewB {
  return { name, status };
}
