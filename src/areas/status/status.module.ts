import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { scrapedGauge } from '../../platform/metrics/scrape.service.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { MemoryModule } from '../memory/memory.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { SessionsService } from '../sessions/sessions.api.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { PoolGauge } from './pool-gauge.js';
import { ProbesController } from './probes.controller.js';
import { ReadinessCheck } from './readiness-check.js';
import { ReadinessReport } from './readiness-report.js';
import { StatusService } from './status.service.js';

/** What the gateway says of itself: to callers, to balancers, to Kubernetes. */
@Module({
  imports: [
    TerminusModule.forRoot({ logger: false }),
    SessionsModule,
    McpModule,
    PluginsModule,
    MemoryModule,
    ChannelsModule,
  ],
  controllers: [ProbesController],
  providers: [
    ReadinessCheck,
    ReadinessReport,
    StatusService,
    // docs/specification/api.md, 4.1: equals the total of Profile A's active sessions.
    ...scrapedGauge(
      { name: 'agent_gateway_sessions_active', help: 'Sessions that have not ended.' },
      SessionsService,
      (sessions) => sessions.count({ status: 'live' }),
    ),
    ...PoolGauge.providers,
    PoolGauge,
  ],
  exports: [StatusService],
})
export class StatusModule {}
