import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { IdentityModule } from '../platform/identity/identity.module.js';
import { RequestMetrics, requestMetricProviders } from './access-log/access-log.js';
import { RefusalLog } from './access-log/refusal-log.js';
import { BodyRoom } from './body/body-room.js';
import { JsonBodyGuard } from './body/json-body.guard.js';
import { GatewayErrorFilter } from './envelope/gateway-error.filter.js';
import { RawRefusal } from './envelope/raw-refusal.js';
import { BearerGuard } from './guards/bearer.guard.js';
import { ClientAddress } from './guards/client-address.js';
import { RateCharge, rateChargeMetricProvider } from './guards/rate-charge.js';
import { rateThrottlerModule } from './guards/rate-throttlers.js';
import { RateTierGuard } from './guards/rate-tier.guard.js';
import { ScopeGuard } from './guards/scope.guard.js';
import { UnknownTokenGate } from './guards/unknown-token-gate.js';
import { IdempotencyGuard, KeyMetrics, keyMetricProvider } from './idempotency/idempotency.guard.js';
import { KeyStore } from './idempotency/key.store.js';
import { KeyRetention } from './idempotency/key-retention.service.js';
import { Claims, ResponseRecorder } from './idempotency/response-recorder.js';
import { RouteTable } from './route-table.js';
import { FurtherChecks } from './validation/further-checks.js';
import { RequestValidationPipe } from './validation/request-validation.pipe.js';

/** What every request passes, in this order: token, rate, scope, body, Idempotency-Key, validation; and the one filter for errors. */
@Global()
@Module({
  imports: [DiscoveryModule, IdentityModule, rateThrottlerModule],
  providers: [
    ...requestMetricProviders,
    RequestMetrics,
    ClientAddress,
    rateChargeMetricProvider,
    RateCharge,
    UnknownTokenGate,
    BodyRoom,
    RawRefusal,
    RefusalLog,
    RouteTable,
    FurtherChecks,
    KeyStore,
    Claims,
    ResponseRecorder,
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
  exports: [
    RequestMetrics,
    RouteTable,
    FurtherChecks,
    RateCharge,
    ClientAddress,
    UnknownTokenGate,
    RefusalLog,
    BodyRoom,
  ],
})
export class RequestPipelineModule {}
