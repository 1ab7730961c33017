import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { Database } from '../../platform/database/database.js';
import { ScrapeService, scrapedGauge } from '../../platform/metrics/scrape.service.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { HooksModule } from '../hooks/hooks.module.js';
import { LiveModule } from '../live/live.module.js';
import { LogsModule } from '../logs/logs.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { MemoryModule } from '../memory/memory.module.js';
import { ModelsModule } from '../models/models.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { SessionsService } from '../sessions/sessions.api.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { AttentionList } from './attention.service.js';
import { HealthParts } from './health-parts.service.js';
import { HealthReport } from './health-report.js';
import { ProbesController } from './operations.controller.js';
import { OverviewService } from './overview.service.js';
import { ProviderPart } from './provider-part.service.js';
import { ReadinessCheck } from './readiness-check.js';
import { ReplicaRegister } from './replicas/replica-register.service.js';
import { StatusService } from './status.service.js';

const CONNECTIONS = 'agent_gateway_database_connections';
const WAITING = 'agent_gateway_database_waiting_requests';

/** How much of this process's database pool is in use. */
@Injectable()
class PoolGauge implements OnModuleInit {
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

/** What the gateway reports about itself: to callers, load balancers and Kubernetes. */
@Module({
  imports: [
    ModelsModule,
    TerminusModule.forRoot({ logger: false }),
    SessionsModule,
    McpModule,
    PluginsModule,
    MemoryModule,
    ChannelsModule,
    HooksModule,
    LiveModule,
    LogsModule,
    ToolsModule,
    TurnsModule,
    UsageModule,
  ],
  controllers: [ProbesController],
  providers: [
    ReadinessCheck,
    HealthReport,
    StatusService,
    HealthParts,
    ProviderPart,
    ReplicaRegister,
    AttentionList,
    OverviewService,
    // docs/specification/api.md, 4.1: equals the total of Profile A's active sessions.
    ...scrapedGauge(
      { name: 'agent_gateway_sessions_active', help: 'Sessions that have not ended.' },
      SessionsService,
      (sessions) => sessions.count({ status: 'live' }),
    ),
    ...scrapedGauge(
      {
        name: 'agent_gateway_database_up',
        help: '1 while the database answers this process and has room on its disk, else 0.',
      },
      ReadinessCheck,
      async (check) => ((await check.problems()).database === undefined ? 1 : 0),
    ),
    ...PoolGauge.providers,
    PoolGauge,
  ],
  exports: [StatusService, OverviewService],
})
export class StatusModule {}
