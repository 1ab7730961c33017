import { Module } from '@nestjs/common';
import { ModelCallMetrics, modelCallMetricProviders } from './model-call-metrics.js';
import { ModelChains } from './model-chains.js';
import { failoverMetric, ModelHealth } from './model-health.service.js';

/** The metrics of model calls. The provider itself comes from outside: it is chosen at the start. */
@Module({
  providers: [...modelCallMetricProviders, ModelCallMetrics, ModelChains, failoverMetric, ModelHealth],
  exports: [ModelCallMetrics, ModelChains, ModelHealth],
})
export class ModelsModule {}
