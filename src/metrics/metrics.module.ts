import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { register } from 'prom-client';
import { MetricsController } from './metrics.controller.js';
import { RequestMetrics, requestMetricProviders } from './request-metrics.js';
import { ScrapeService } from './scrape.service.js';

/** A process has one registry; a second application in it (as in tests) shares the process's own figures. */
const processFigures = register.getSingleMetric('process_start_time_seconds') === undefined;

/** Gauges of prom-client whose names promise a counter; what they tell is in the ones without the ending. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

@Global()
@Module({
  imports: [
    PrometheusModule.register({
      path: '/metrics',
      controller: MetricsController,
      defaultMetrics: { enabled: processFigures },
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
