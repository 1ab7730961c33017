import { Get, Req, Res } from '@nestjs/common';
import { ApiProduces, ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { Open, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { ScrapeService } from '../../../platform/metrics/scrape.service.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import { type Health, type HealthStatus, type Info, StatusService } from '../status.service.js';
import { AnswersNotReady } from '../wire/answers-not-ready.decorator.js';

class HealthViewA {
  @ApiProperty({ enum: ['healthy', 'degraded', 'unhealthy'] })
  status!: HealthStatus;

  @ApiProperty()
  version!: string;

  @ApiProperty({ type: 'integer' })
  uptime_secs!: number;
}

class InfoViewA {
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

function presentHealthA(health: Health): HealthViewA {
  return { status: health.status, version: health.version, uptime_secs: health.uptimeSecs };
}

function presentInfoA(info: Info): InfoViewA {
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

/** Health and information in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('')
export class StatusControllerA {
  constructor(private readonly status: StatusService) {}

  @Get('health')
  @Does('Check the health', 'For probes.')
  @Open()
  @Answers(200, 'The gateway is ready', HealthViewA)
  @AnswersNotReady(HealthViewA)
  async health(@Res() response: Response): Promise<void> {
    const health = await this.status.health();
    response.status(health.ready ? 200 : 503).json(presentHealthA(health));
  }

  @Get('info')
  @Does('Describe what runs here')
  @RequireScope('status:read')
  @Answers(200, 'What runs here', InfoViewA)
  async info(): Promise<InfoViewA> {
    return presentInfoA(await this.status.info());
  }
}

/** Metrics in Profile A (docs/specification/api.md, 4.1): the text exposition format. */
@ProfileAController('metrics')
export class MetricsControllerA {
  constructor(private readonly scrape: ScrapeService) {}

  @Get()
  @Does(
    'Scrape the metrics',
    'In the text exposition format of Prometheus. `gateway.metrics_public` lets it answer without a token.',
  )
  @RequireScope('metrics:read', 'other', (settings) => settings.gateway.metrics_public)
  @ApiProduces('text/plain')
  @ApiResponse({ status: 200, description: 'Metrics with HELP and TYPE lines', schema: { type: 'string' } })
  async metrics(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    // No token is needed while they are public.
    refuseSomeAgents('metrics tell', request.caller ?? {});
    response.type(this.scrape.contentType).send(await this.scrape.render());
  }
}
