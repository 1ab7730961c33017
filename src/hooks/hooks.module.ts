import { Module } from '@nestjs/common';
import { Deliverer } from './deliverer.service.js';
import { DeliveryMetrics, deliveryMetricProviders } from './delivery-metrics.js';
import { DeliverySender } from './delivery-sender.js';
import { FirstAttempts } from './first-attempts.js';
import { HookStore } from './hook.store.js';
import { HookJanitor } from './hook-janitor.service.js';
import { HookSecrets } from './hook-secrets.js';
import { HookUrlCheck } from './hook-url-check.js';
import { HooksService } from './hooks.service.js';
import { LaneStore } from './lane.store.js';
import { OutcomeStore } from './outcome.store.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { Retries } from './retries.js';
import { RetryStore } from './retry.store.js';

/** Webhooks: who subscribed, and the deliverer that sends to them. */
@Module({
  providers: [
    HookSecrets,
    HookStore,
    HookUrlCheck,
    HooksService,
    LaneStore,
    RetryStore,
    OutcomeStore,
    ...deliveryMetricProviders,
    DeliveryMetrics,
    OutcomeRecorder,
    DeliverySender,
    FirstAttempts,
    Retries,
    Deliverer,
    HookJanitor,
  ],
  exports: [HooksService],
})
export class HooksModule {}
