import { Module } from '@nestjs/common';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import { RateLimiter } from './rate-limiter.port.js';

@Module({
  providers: [{ provide: RateLimiter, useFactory: () => new MemoryRateLimiter() }],
  exports: [RateLimiter],
})
export class RateLimitsModule {}
