import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider, makeHistogramProvider } from '@willsoto/nestjs-prometheus';
import type { Response } from 'express';
import type { Counter, Histogram } from 'prom-client';
import type { Origin } from '../../platform/logging/log-context.js';
import { type Logger, type LogLevel, Logs } from '../../platform/logging/logger.js';
import { childrenOf } from '../../platform/metrics/labelled.js';
import { Settings } from '../../platform/settings/settings.js';
import { type GatewayRequest, routeLabel } from '../gateway-request.js';
import { ClientAddress } from '../guards/client-address.js';
import { isRefusalStatus } from './refusal-log.js';

const REQUESTS = 'agent_gateway_requests_total';
const DURATION = 'agent_gateway_request_duration_seconds';

export const requestMetricProviders = [
  makeCounterProvider({
    name: REQUESTS,
    help: 'API requests by method and route.',
    labelNames: ['method', 'path'],
  }),
  makeHistogramProvider({
    name: DURATION,
    help: 'Time from the request line to the end of the response.',
    labelNames: ['path', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  }),
];

/** By the first digit of a status. */
const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'];

/** Counts requests by route template, never by the requested path. */
@Injectable()
export class RequestMetrics {
  private readonly requestsOf: (method: string, path?: string) => Counter.Internal;
  private readonly durationOf: (path: string, status?: string) => Histogram.Internal<'path' | 'status'>;

  constructor(
    @InjectMetric(REQUESTS) requests: Counter<'method' | 'path'>,
    @InjectMetric(DURATION) duration: Histogram<'path' | 'status'>,
  ) {
    this.requestsOf = childrenOf(requests);
    this.durationOf = childrenOf(duration);
  }

  /** `path` is a route template; `status` an HTTP status, recorded as its class. */
  observe(method: string, path: string, status: number, seconds: number): void {
    this.requestsOf(method, path).inc();
    this.durationOf(path, STATUS_CLASSES[Math.floor(status / 100)] ?? 'other').observe(seconds);
  }
}

/** Counts every request and logs it as `logging.requests` says, once its response has left or its connection is gone. */
@Injectable()
export class AccessLog {
  private readonly logger: Logger;

  constructor(
    private readonly metrics: RequestMetrics,
    private readonly settings: Settings,
    private readonly addresses: ClientAddress,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::access');
  }

  /** Whom the audit names for the request's actions; the caller is known once the guards have run. */
  originOf(request: GatewayRequest): Origin {
    const { caller } = request;
    const address = this.addresses.of(request);
    if (caller === undefined) return { actor: 'unknown', address };
    return { actor: caller.tokenName, address, tokenId: caller.tokenId };
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
