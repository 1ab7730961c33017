import { All, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { NotFound } from '../../common/errors/gateway-error.js';
import { Open } from '../../http/guards/access.decorator.js';
import { OperationsController } from '../../http/profiles/profile.js';
import { Readiness } from '../../platform/lifecycle/readiness.js';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { HealthReport } from './health-report.js';

/** The probes of Kubernetes, on the operations port. */
@OperationsController()
@Open()
export class ProbesController {
  constructor(
    private readonly health: HealthReport,
    private readonly lifecycle: Readiness,
  ) {}

  /** A response shows that the event loop runs, so the process needs no restart. */
  @Get('livez')
  async livez(@Res() response: Response): Promise<void> {
    const { status } = await this.health.live();
    response.status(status === 'ok' ? 200 : 503).json({ status });
  }

  @Get('readyz')
  async readyz(@Res() response: Response): Promise<void> {
    const report = await this.health.ready();
    response.status(report.status === 'ok' ? 200 : 503).json(report);
  }

  /** Whether the start has completed, whatever happened since: from then on the other two probes count. */
  @Get('startupz')
  startupz(@Res() response: Response): void {
    const { hasStarted } = this.lifecycle;
    response.status(hasStarted ? 200 : 503).json({ status: hasStarted ? 'ok' : 'starting' });
  }

  @All('*path')
  unknown(): never {
    throw new NotFound('The operations port answers /livez, /readyz, /startupz and /metrics.');
  }
}

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
