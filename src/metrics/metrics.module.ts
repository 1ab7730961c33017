import { Global, Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { register } from 'prom-client';
import { MetricsController } from './metrics.controller.js';
import { RequestMetrics, requestMetricProviders } from './request-metrics.js';
import { ScrapeService } from './scrape.service.js';

/** A process has one registry; a second application in it (as in tests) shares the process's own figures. */
const processFigures = register.getSingleMetric('process_start_time_seconds') === undefined;

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
export class MetricsModule {}
