import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeCounterProvider, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Counter, Gauge } from 'prom-client';
import { Database } from '../../platform/database/database.js';
import { double, integer } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import type { Outcome } from './delivery.js';

const ATTEMPTS = 'agent_gateway_hook_attempts_total';
const DEPTH = 'agent_gateway_hook_outbox_deliveries';
const OLDEST = 'agent_gateway_hook_oldest_undelivered_seconds';

export const deliveryMetricProviders = [
  makeCounterProvider({
    name: ATTEMPTS,
    help: 'Delivery attempts of this process by outcome: delivered, retry (will be tried again), failed.',
    labelNames: ['outcome'],
  }),
  makeGaugeProvider({ name: DEPTH, help: 'Deliveries to active webhooks that have not succeeded yet.' }),
  makeGaugeProvider({
    name: OLDEST,
    help: 'Age of the oldest delivery to an active webhook that has not succeeded yet; 0 without any.',
  }),
];

/** In two parts, each of which has an index of its own: what was delivered is not read. */
const OUTBOX = statement({
  name: 'hook_deliveries.outbox',
  params: {},
  row: { depth: integer, oldest: double },
  sql: `
    SELECT count(*)::int AS depth, coalesce(extract(epoch FROM now() - min(d.created_at)), 0)::float8 AS oldest
    FROM (
      SELECT hook_id, created_at FROM hook_deliveries WHERE status = 'pending' AND attempts = 0
      UNION ALL SELECT hook_id, created_at FROM hook_deliveries WHERE status = 'pending' AND attempts > 0
    ) AS d JOIN hooks AS h ON h.id = d.hook_id AND h.active`,
});

/** Metrics of webhooks: attempts are counted as they happen, the outbox is measured on every scrape. */
@Injectable()
export class DeliveryMetrics implements OnModuleInit {
  private readonly counters: Readonly<Record<Outcome['status'], Counter.Internal>>;

  constructor(
    @InjectMetric(ATTEMPTS) attempts: Counter<'outcome'>,
    @InjectMetric(DEPTH) private readonly depth: Gauge,
    @InjectMetric(OLDEST) private readonly oldest: Gauge,
    private readonly scrape: ScrapeService,
    private readonly database: Database,
  ) {
    this.counters = {
      delivered: attempts.labels('delivered'),
      pending: attempts.labels('retry'),
      failed: attempts.labels('failed'),
    };
  }

  onModuleInit(): void {
    for (const counter of Object.values(this.counters)) counter.inc(0);
    this.scrape.onScrape([this.depth, this.oldest], () => this.poll());
  }

  count({ status }: Outcome): void {
    this.counters[status].inc();
  }

  private async poll(): Promise<void> {
    const [outbox] = await this.database.query(OUTBOX);
    this.depth.set(outbox?.depth ?? 0);
    this.oldest.set(outbox?.oldest ?? 0);
  }
}
