import { Get, Res } from '@nestjs/common';
import { ApiProduces, ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { ScrapeService } from '../../../platform/metrics/scrape.service.js';

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
  async metrics(@Res() response: Response): Promise<void> {
    response.type(this.scrape.contentType).send(await this.scrape.render());
  }
}
