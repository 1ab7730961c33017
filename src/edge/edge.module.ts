import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { BearerGuard } from './bearer.guard.js';
import { ClientAddress } from './client-address.js';
import { GatewayErrorFilter } from './gateway-error.filter.js';
import { AnswerKeeper } from './idempotency/answer-keeper.js';
import { Claims } from './idempotency/claims.service.js';
import { IdempotencyGuard } from './idempotency/idempotency.guard.js';
import { KeyStore } from './idempotency/key.store.js';
import { KeyMetrics, keyMetricProvider } from './idempotency/key-metrics.js';
import { KeyRetention } from './idempotency/key-retention.service.js';
import { JsonBodyGuard } from './json-body.guard.js';
import { RateCharge, rateChargeMetricProvider } from './rate-charge.js';
import { RateTierGuard } from './rate-tier.guard.js';
import { RawRefusal } from './raw-refusal.js';
import { RefusalLog } from './refusal-log.js';
import { RequestValidationPipe } from './request-validation.pipe.js';
import { RouteTable } from './route-table.js';
import { ScopeGuard } from './scope.guard.js';
import { StrangerGate } from './stranger-gate.js';
import { FurtherChecks } from './validation/further-checks.js';

/** What every request passes, in this order: token, rate, scope, body, Idempotency-Key, validation; and the one filter for errors. */
@Global()
@Module({
  imports: [DiscoveryModule, TokensModule, RateLimitsModule],
  providers: [
    ClientAddress,
    rateChargeMetricProvider,
    RateCharge,
    StrangerGate,
    RawRefusal,
    RefusalLog,
    RouteTable,
    FurtherChecks,
    KeyStore,
    Claims,
    AnswerKeeper,
    IdempotencyGuard,
    KeyRetention,
    KeyMetrics,
    keyMetricProvider,
    { provide: APP_GUARD, useClass: BearerGuard },
    { provide: APP_GUARD, useClass: RateTierGuard },
    { provide: APP_GUARD, useClass: ScopeGuard },
    { provide: APP_GUARD, useClass: JsonBodyGuard },
    { provide: APP_GUARD, useExisting: IdempotencyGuard },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
    { provide: APP_FILTER, useClass: GatewayErrorFilter },
  ],
  exports: [RouteTable, FurtherChecks, RateCharge, ClientAddress, StrangerGate, RefusalLog],
})
export class EdgeModule {}
