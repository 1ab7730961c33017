import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { register } from 'prom-client';
import { MetricsController } from '../../areas/status/metrics.controller.js';
import { RequestMetrics, requestMetricProviders } from '../../http/access-log/request-metrics.js';
import { ScrapeService } from './scrape.service.js';

/** A process has one registry; a second application in it (as in tests) shares the process's own figures. */
const processFigures = register.getSingleMetric('process_start_time_seconds') === undefined;

/** Gauges of prom-client whose names promise a counter; what they tell is in the ones without the ending. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Each measurement wakes the process; at prom-client's 10 ms that is a third of what an idle replica costs. */
const LAG_PRECISION_MS = 20;

@Global()
@Module({
  imports: [
    PrometheusModule.register({
      path: '/metrics',
      controller: MetricsController,
      defaultMetrics: {
        enabled: processFigures,
        config: { eventLoopMonitoringPrecision: LAG_PRECISION_MS },
      },
    }),
  ],
  providers: [...requestMetricProviders, RequestMetrics, ScrapeService],
  exports: [RequestMetrics, ScrapeService],
})
export class MetricsModule implements OnModuleInit {
  onModuleInit(): void {
    for (const name of MISNAMED) register.removeSingleMetric(name);
  }
}
