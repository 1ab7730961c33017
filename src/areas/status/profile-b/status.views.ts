import { ApiProperty } from '@nestjs/swagger';
import type { Health, HealthStatus, Info } from '../status.service.js';

export class LightHealthViewB {
  @ApiProperty()
  healthy!: boolean;
}

class ChannelCountsViewB {
  @ApiProperty({ type: 'integer' })
  connected!: number;

  @ApiProperty({ type: 'integer' })
  total!: number;
}

class PluginCountsViewB {
  @ApiProperty({ type: 'integer' })
  loaded!: number;

  @ApiProperty({ type: 'integer' })
  total!: number;
}

class MemoryViewB {
  @ApiProperty({ enum: ['postgres', 'none'] })
  backend!: string;

  @ApiProperty({ type: 'integer' })
  entries!: number;
}

class ProviderViewB {
  @ApiProperty({ example: 'anthropic' })
  name!: string;

  @ApiProperty()
  model!: string;
}

export class StatusViewB {
  @ApiProperty({ enum: ['healthy', 'degraded', 'unhealthy'] })
  status!: HealthStatus;

  @ApiProperty()
  version!: string;

  @ApiProperty({ type: 'integer' })
  uptime_secs!: number;

  @ApiProperty({ type: 'integer' })
  active_sessions!: number;

  @ApiProperty()
  channels!: ChannelCountsViewB;

  @ApiProperty()
  plugins!: PluginCountsViewB;

  @ApiProperty()
  memory!: MemoryViewB;

  @ApiProperty()
  provider!: ProviderViewB;
}

export function presentLightHealthB(health: Health): LightHealthViewB {
  return { healthy: health.ready };
}

export function presentStatusB(info: Info): StatusViewB {
  return {
    status: info.status,
    version: info.version,
    uptime_secs: info.uptimeSecs,
    active_sessions: info.activeSessions,
    channels: { connected: info.channels.connected, total: info.channels.total },
    plugins: { loaded: info.plugins.loaded, total: info.plugins.total },
    memory: { backend: info.memory.backend, entries: info.memory.entries },
    provider: { name: info.providerName, model: info.model },
  };
}
