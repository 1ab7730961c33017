import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { type Logger, Logs } from '../logs/logger.js';
import { RequestMetrics } from '../metrics/request-metrics.js';
import { type GatewayRequest, routeLabel } from './gateway-request.js';

/** One line and one count a request, once its answer has left or its connection is gone. */
@Injectable()
export class AccessLog {
  private readonly logger: Logger;

  constructor(
    private readonly metrics: RequestMetrics,
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
    this.logger.debug('request', {
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
}
