import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider, makeHistogramProvider } from '@willsoto/nestjs-prometheus';
import type { Counter, Histogram } from 'prom-client';

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
    help: 'Time from the request line to the end of the answer.',
    labelNames: ['path', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  }),
];

/** Counts requests by route template, never by the requested path. Keeps the labelled children: no look-up by labels on the hot path. */
@Injectable()
export class RequestMetrics {
  private readonly counters = new Map<string, Counter.Internal>();
  private readonly timers = new Map<string, Histogram.Internal<'path' | 'status'>>();

  constructor(
    @InjectMetric(REQUESTS) private readonly requests: Counter<'method' | 'path'>,
    @InjectMetric(DURATION) private readonly duration: Histogram<'path' | 'status'>,
  ) {}

  /** `path` is a route template; `status` an HTTP status, recorded as its class. */
  observe(method: string, path: string, status: number, seconds: number): void {
    const counterKey = `${method} ${path}`;
    let counter = this.counters.get(counterKey);
    if (counter === undefined) {
      counter = this.requests.labels(method, path);
      this.counters.set(counterKey, counter);
    }
    counter.inc();
    const statusClass = `${Math.floor(status / 100)}xx`;
    const timerKey = `${statusClass} ${path}`;
    let timer = this.timers.get(timerKey);
    if (timer === undefined) {
      timer = this.duration.labels(path, statusClass);
      this.timers.set(timerKey, timer);
    }
    timer.observe(seconds);
  }
}
