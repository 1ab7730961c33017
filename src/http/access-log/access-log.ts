import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { LogLevel } from '../../platform/logging/log-level.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import { type GatewayRequest, routeLabel } from '../gateway-request.js';
import { isRefusalStatus } from './refusal-log.js';
import { RequestMetrics } from './request-metrics.js';

/** Counts every request and logs it as `logging.requests` says, once its response has left or its connection is gone. */
@Injectable()
export class AccessLog {
  private readonly logger: Logger;

  constructor(
    private readonly metrics: RequestMetrics,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::access');
  }

  finished(request: GatewayRequest, response: Response): void {
    const durationMs = performance.now() - request.receivedAt;
    const route = routeLabel(request);
    if (request.profile !== 'operations') {
      this.metrics.observe(request.method, route, response.statusCode, durationMs / 1000);
    }
    const level = this.levelOf(request, response.statusCode);
    if (level === undefined) return;
    this.logger[level](`${request.method} ${route} answered ${response.statusCode}`, {
      request_id: request.requestId,
      profile: request.profile,
      method: request.method,
      route,
      status: response.statusCode,
      duration_ms: Math.round(durationMs * 10) / 10,
      token: request.caller?.tokenId,
      ...(response.writableFinished ? {} : { aborted: true }),
    });
  }

  /** Probes and scrapes come every few seconds, and a failing probe is no fault: they log at debug, and only with `all`. */
  private levelOf({ profile }: GatewayRequest, status: number): LogLevel | undefined {
    const { requests } = this.settings.current.logging;
    if (requests === 'none') return undefined;
    if (profile === 'operations') return requests === 'all' ? 'debug' : undefined;
    if (status >= 500) return 'error';
    if (requests === 'all') return 'info';
    return status >= 400 && !isRefusalStatus(status) ? 'debug' : undefined;
  }
}
