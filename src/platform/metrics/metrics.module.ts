import { type DynamicModule, Global, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { register } from 'prom-client';
import { ScrapeService } from './scrape.service.js';

/** Gauges of prom-client whose names end like a counter's; the gauges without that ending show the same. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Each measurement wakes the process: at prom-client's 10 ms that is a third of what an idle replica costs. */
const LAG_PRECISION_MS = 20;

@Global()
@Module({ providers: [ScrapeService], exports: [ScrapeService] })
export class MetricsModule implements OnModuleInit {
  /** @param controller answers `GET /metrics` */
  static shownBy(controller: Type): DynamicModule {
    // A process has one registry. A second application in it, as in tests, shares the process's own figures.
    const isFirst = register.getSingleMetric('process_start_time_seconds') === undefined;
    const prometheus = PrometheusModule.register({
      path: '/metrics',
      controller,
      defaultMetrics: {
        enabled: isFirst,
        config: { eventLoopMonitoringPrecision: LAG_PRECISION_MS },
      },
    });
    return { module: MetricsModule, imports: [prometheus] };
  }

  onModuleInit(): void {
    for (const name of MISNAMED) register.removeSingleMetric(name);
  }
}
