import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { SessionsService } from '../sessions/sessions.service.js';

const NAME = 'agent_gateway_sessions_active';

/** The gauge of active sessions (docs/specification/api.md, 4.1): equals the total of Profile A's active sessions. */
@Injectable()
export class SessionGauge implements OnModuleInit {
  static readonly provider = makeGaugeProvider({ name: NAME, help: 'Sessions that have not ended.' });

  constructor(
    @InjectMetric(NAME) private readonly gauge: Gauge,
    private readonly sessions: SessionsService,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.onScrape(async () => this.gauge.set(await this.sessions.count({ status: 'live' })));
  }
}
