import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { Database } from '../../platform/database/database.js';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';

const CONNECTIONS = 'agent_gateway_database_connections';
const WAITING = 'agent_gateway_database_waiting_requests';

/** How full the database pool of this process is. */
@Injectable()
export class PoolGauge implements OnModuleInit {
  static readonly providers = [
    makeGaugeProvider({
      name: CONNECTIONS,
      help: 'Database connections of this process by state; all of them together reach database.pool_size at most.',
      labelNames: ['state'],
    }),
    makeGaugeProvider({ name: WAITING, help: 'Statements that wait for a database connection.' }),
  ];

  constructor(
    @InjectMetric(CONNECTIONS) private readonly connections: Gauge<'state'>,
    @InjectMetric(WAITING) private readonly waiting: Gauge,
    private readonly database: Database,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.beforeScrape(() => {
      const { open, idle, waiting } = this.database.poolUse;
      this.connections.set({ state: 'idle' }, idle);
      this.connections.set({ state: 'busy' }, open - idle);
      this.waiting.set(waiting);
    });
  }
}
