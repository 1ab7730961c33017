import { Module } from '@nestjs/common';
import { TokenEndings } from '../../platform/tokens/token-endings.js';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { Deliverer } from './deliverer.service.js';
import { DeliveryDirectory } from './delivery-directory.service.js';
import { DeliveryMetrics, deliveryMetricProviders } from './delivery-metrics.js';
import { DeliverySender } from './delivery-sender.js';
import { FirstAttempts } from './first-attempts.js';
import { HookStore } from './hook.store.js';
import { HookAdmin } from './hook-admin.js';
import { HookLimits } from './hook-limits.js';
import { HookRetention } from './hook-retention.service.js';
import { HookSecrets } from './hook-secrets.js';
import { HooksService } from './hooks.service.js';
import { LaneStore } from './lane.store.js';
import { LaneOwner } from './lane-owner.js';
import { OutcomeRecorder, OutcomeStore } from './outcome-recorder.js';
import { Retries } from './retries.js';
import { RetryStore } from './retry.store.js';
import { TaskHookStore } from './task-hook.store.js';
import { TaskHooks } from './task-hooks.service.js';
import { TaskNotifications } from './task-notifications.js';
import { TokenHooks } from './token-hooks.js';

/** Webhooks: who subscribed, and the deliverer that sends to them. */
@Module({
  imports: [TokensModule],
  providers: [
    HookSecrets,
    TaskNotifications,
    TaskHookStore,
    TaskHooks,
    HookStore,
    HooksService,
    TokenHooks,
    LaneOwner,
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
    HookRetention,
    HookAdmin,
    HookLimits,
    DeliveryDirectory,
  ],
  exports: [HooksService, HookLimits, DeliveryDirectory, TaskHooks, TaskNotifications],
})
export class HooksModule {
  constructor(endings: TokenEndings, ofToken: TokenHooks) {
    endings.add(ofToken);
  }
}
