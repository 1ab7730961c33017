import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';

const REQUESTS = 'agent_gateway_idempotent_requests_total';

/** How a request with an Idempotency-Key was served. */
export type KeyOutcome = 'first' | 'replayed' | 'refused';

export const keyMetricProvider = makeCounterProvider({
  name: REQUESTS,
  help: 'Requests with an Idempotency-Key by outcome: served for the first time, replayed, refused because of the key.',
  labelNames: ['outcome'],
});

/** Counts requests with an Idempotency-Key by outcome. */
@Injectable()
export class KeyMetrics implements OnModuleInit {
  constructor(@InjectMetric(REQUESTS) private readonly requests: Counter<'outcome'>) {}

  onModuleInit(): void {
    for (const outcome of ['first', 'replayed', 'refused']) this.requests.inc({ outcome }, 0);
  }

  count(outcome: KeyOutcome | undefined): void {
    if (outcome !== undefined) this.requests.inc({ outcome });
  }
}
