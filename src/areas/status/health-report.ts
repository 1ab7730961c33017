import { Injectable } from '@nestjs/common';
import {
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorFunction,
  type HealthIndicatorResult,
  HealthIndicatorService,
} from '@nestjs/terminus';
import { httpExceptionBody } from '../../http/envelope/error-envelope.js';
import { ReadinessCheck } from './readiness-check.js';

/**
 * What Terminus found: which indicator is up, which is down and why. Every health endpoint of both profiles is a view
 * of one.
 */
@Injectable()
export class HealthReport {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly readiness: ReadinessCheck,
  ) {}

  /** Whether this process runs, also while it shuts down: a restart would help against nothing else. */
  async live(): Promise<HealthCheckResult> {
    const report = await this.made([() => this.indicator('event_loop', undefined)]);
    return report.status === 'shutting_down' ? { ...report, status: 'ok' } : report;
  }

  /** Whether this replica should get requests. */
  async ready(): Promise<HealthCheckResult> {
    const { gateway, database, migrations } = await this.readiness.problems();
    return this.made([
      () => this.indicator('gateway', gateway),
      () => this.indicator('database', database),
      () => this.indicator('migrations', migrations),
    ]);
  }

  /** Terminus throws the report when something is wrong. */
  private async made(indicators: HealthIndicatorFunction[]): Promise<HealthCheckResult> {
    try {
      return await this.health.check(indicators);
    } catch (error) {
      const body = httpExceptionBody(error);
      if (body === undefined) throw error;
      return body as HealthCheckResult;
    }
  }

  private indicator(name: string, problem: string | undefined): HealthIndicatorResult {
    const indicator = this.indicators.check(name);
    return problem === undefined ? indicator.up() : indicator.down({ reason: problem });
  }
}
