import { Module } from '@nestjs/common';
import { ModelCallMetrics, modelCallMetricProviders } from './model-call-metrics.js';

/** What calls of models are measured by. The provider itself comes from outside: it is chosen at the start. */
@Module({
  providers: [...modelCallMetricProviders, ModelCallMetrics],
  exports: [ModelCallMetrics],
})
export class ModelsModule {}
