import { ApiProperty } from '@nestjs/swagger';
import type { Plugin, PluginStatus } from '../plugin.js';

export class DisabledPluginViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: ['loaded', 'disabled'] })
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
}

export class PluginListViewB {
  @ApiProperty({ type: [PluginItemViewB] })
  plugins!: PluginItemViewB[];
}

export function presentPluginListB(plugins: readonly Plugin[]): PluginListViewB {
  return {
    plugins: plugins.map(({ name, version, status, capabilities, memoryBytes }) => ({
      name,
      version,
      status,
      capabilities: [...capabilities],
      memory_usage_bytes: memoryBytes,
    })),
  };
}

export function presentReloadedPluginB({ name, status, version }: Plugin): ReloadedPluginViewB {
  return { name, status, version };
}

export function presentDisabledPluginB({ name, status }: Plugin): DisabledPluginViewB {
  return { name, status };
}
