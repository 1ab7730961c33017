import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Plugin } from '../plugin.js';

const BYTES_PER_MB = 1_048_576;

export class PluginItemViewA {
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

export class PluginListViewA {
  @ApiProperty({ type: [PluginItemViewA] })
  plugins!: PluginItemViewA[];
}

export function presentPluginA(plugin: Plugin): PluginItemViewA {
  return {
    name: plugin.name,
    version: plugin.version,
    enabled: plugin.status === 'loaded',
    type: plugin.type,
    memory_usage_mb: Math.ceil(plugin.memoryBytes / BYTES_PER_MB),
    ...(plugin.error === undefined ? {} : { error: plugin.error }),
  };
}

export function presentPluginListA(plugins: readonly Plugin[]): PluginListViewA {
  return { plugins: plugins.map(presentPluginA) };
}
