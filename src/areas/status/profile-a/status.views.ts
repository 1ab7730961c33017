import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Health, HealthStatus, Info } from '../status.service.js';

export class HealthViewA {
  @ApiProperty({ enum: ['healthy', 'degraded', 'unhealthy'] })
  status!: HealthStatus;

  @ApiProperty()
  version!: string;

  @ApiProperty({ type: 'integer' })
  uptime_secs!: number;
}

export class InfoViewA {
  @ApiProperty()
  version!: string;

  @ApiProperty({ format: 'date-time', description: 'When this build was made' })
  build!: string;

  @ApiProperty({ example: 'anthropic' })
  default_provider!: string;

  @ApiProperty()
  default_model!: string;

  @ApiProperty({ type: 'integer' })
  active_sessions!: number;

  @ApiProperty({ type: 'integer' })
  active_channels!: number;

  @ApiProperty({ type: 'integer' })
  plugins_loaded!: number;

  @ApiProperty({ enum: ['postgres', 'none'] })
  memory_backend!: string;

  @ApiProperty({ enum: ['bubblewrap', 'none'] })
  sandbox_backend!: string;

  @ApiPropertyOptional({
    description: 'Present when stdio tool servers run without the sandbox they should have',
  })
  sandbox_warning?: string;
}

export function presentHealthA(health: Health): HealthViewA {
  return { status: health.status, version: health.version, uptime_secs: health.uptimeSecs };
}

export function presentInfoA(info: Info): InfoViewA {
  return {
    version: info.version,
    build: info.builtAt.toISOString(),
    default_provider: info.providerName,
    default_model: info.model,
    active_sessions: info.liveSessions,
    active_channels: info.channels.connected,
    plugins_loaded: info.plugins.loaded,
    memory_backend: info.memory.backend,
    sandbox_backend: info.sandboxBackend,
    ...(info.sandboxWarning === undefined ? {} : { sandbox_warning: info.sandboxWarning }),
  };
}
