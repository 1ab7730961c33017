import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Open } from '../../http/guards/access.decorator.js';
import { OperationsController } from '../../http/profiles/profile.js';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';

/** For Prometheus, on the operations port. */
@OperationsController()
export class MetricsController {
  constructor(private readonly scrape: ScrapeService) {}

  @Get()
  @Open()
  async metrics(@Res() response: Response): Promise<void> {
    response.type(this.scrape.contentType).send(await this.scrape.render());
  }
}
