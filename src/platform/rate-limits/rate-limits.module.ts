import { Module } from '@nestjs/common';
import { Logs } from '../logging/logger.js';
import { Settings } from '../settings/settings.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { RateBucketStore, sharesRateLimits } from './rate-bucket.store.js';
import { RateBucketRetention } from './rate-bucket-retention.service.js';
import { RateLimiter } from './rate-limiter.port.js';
import { SharedRateLimiter } from './shared-rate-limiter.js';

@Module({
  providers: [
    RateBucketStore,
    RateBucketRetention,
    { provide: RateLimiter, useFactory: limiterOf, inject: [Settings, RateBucketStore, Logs] },
  ],
  exports: [RateLimiter],
})
export class RateLimitsModule {}

function limiterOf(settings: Settings, store: RateBucketStore, logs: Logs): RateLimiter {
  if (!sharesRateLimits(settings.current)) return new MemoryRateLimiter();
  return new SharedRateLimiter(store, logs.for('gateway::rate-limits'));
}
