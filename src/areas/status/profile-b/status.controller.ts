import { Get, Res } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { Response } from 'express';
import { Open, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { type Health, type HealthStatus, type Info, StatusService } from '../status.service.js';
import { AnswersNotReady } from '../wire/answers-not-ready.decorator.js';

class LightHealthViewB {
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

class StatusViewB {
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

function presentLightHealthB(health: Health): LightHealthViewB {
  return { healthy: health.ready };
}

function presentStatusB(info: Info): StatusViewB {
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

/** Status and health in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('status')
export class StatusControllerB {
  constructor(private readonly status: StatusService) {}

  @Get()
  @Does('Describe what runs here')
  @RequireScope('status:read')
  @Answers(200, 'What runs here', StatusViewB)
  async detail(): Promise<StatusViewB> {
    return presentStatusB(await this.status.info());
  }

  @Get('health')
  @Does('Check the health', 'For probes of load balancers.')
  @Open()
  @Answers(200, 'The gateway is ready', LightHealthViewB)
  @AnswersNotReady(LightHealthViewB)
  async health(@Res() response: Response): Promise<void> {
    const health = await this.status.health();
    response.status(health.ready ? 200 : 503).json(presentLightHealthB(health));
  }
}
