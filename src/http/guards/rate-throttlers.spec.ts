import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerException, ThrottlerGuard } from '@nestjs/throttler';
import { MemoryRateLimiter } from '../../platform/rate-limits/memory-rate-limiter.js';
import type { Settings } from '../../platform/settings/settings.js';
import { rateThrottlers } from './rate-throttlers.js';

const limits = { sessions_write: 2, sessions_read: 50, config_write: 5, other: 30 };
const settings = { current: { rate_limits: limits } } as unknown as Settings;
const throttlers = () => rateThrottlers(new MemoryRateLimiter({ monotonicMs: () => 0 }), settings);

test('a tier is a named throttler that reads its limit each time', () => {
  const [write] = throttlers().throttlers;
  expect([write?.name, write?.ttl, write?.limit()]).toEqual(['sessions_write', 1000, 2]);
  limits.sessions_write = 3;
  expect(write?.limit()).toBe(3);
  limits.sessions_write = 2;
});

test('each tier of a bucket counts by itself', () => {
  const { storage, throttlers: tiers } = throttlers();
  const allowed = [0, 0, 0, 1].map((index) => storage.consume('token:1', tiers[index]!));
  expect(allowed).toMatchObject([true, true, false, true].map((is) => ({ allowed: is })));
});

/** Charges one caller as the library does by itself. */
@Injectable()
class StockGuard extends ThrottlerGuard {
  protected override getTracker(): Promise<string> {
    return Promise.resolve('ada');
  }
}

test('the stock guard limits with the same storage, by the tier that is used up first', async () => {
  const guard = new StockGuard(throttlers(), throttlers().storage, new Reflector());
  await guard.onModuleInit();
  const headers: Record<string, unknown> = {};
  const response = { header: (name: string, value: unknown) => Object.assign(headers, { [name]: value }) };
  const context = {
    getHandler: () => StockGuard.prototype.canActivate,
    getClass: () => StockGuard,
    switchToHttp: () => ({ getRequest: () => ({ headers: {} }), getResponse: () => response }),
  } as unknown as ExecutionContext;
  expect([await guard.canActivate(context), await guard.canActivate(context)]).toEqual([true, true]);
  expect(headers).toMatchObject({
    'X-RateLimit-Limit-sessions_write': 2,
    'X-RateLimit-Remaining-sessions_write': 0,
  });
  await expect(guard.canActivate(context)).rejects.toThrow(ThrottlerException);
});
