import { Injectable } from '@nestjs/common';
import { HealthCheckService, type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { httpExceptionBody } from '../../http/envelope/error-envelope.js';
import { ReadinessCheck } from './readiness-check.js';

/** Readiness as Terminus words it: which indicator is up, which is down and why. */
@Injectable()
export class ReadinessReport {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly readiness: ReadinessCheck,
  ) {}

  async make(): Promise<{ status: 200 | 503; body: object }> {
    const { gateway, database, migrations } = await this.readiness.problems();
    const indicators = [
      () => this.indicator('gateway', gateway),
      () => this.indicator('database', database),
      () => this.indicator('migrations', migrations),
    ];
    try {
      return { status: 200, body: await this.health.check(indicators) };
    } catch (error) {
      const body = httpExceptionBody(error);
      if (body === undefined) throw error;
      return { status: 503, body };
    }
  }

  private indicator(name: string, problem: string | undefined): HealthIndicatorResult {
    const indicator = this.indicators.check(name);
    return problem === undefined ? indicator.up() : indicator.down({ reason: problem });
  }
}
