import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { McpModule } from '../mcp/mcp.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ProbesController } from './probes.controller.js';
import { ReadinessCheck } from './readiness-check.js';
import { ReadinessReport } from './readiness-report.js';
import { SessionGauge } from './session-gauge.js';
import { StatusService } from './status.service.js';

/** What the gateway says of itself: to callers, to balancers, to Kubernetes. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false }), SessionsModule, McpModule],
  controllers: [ProbesController],
  providers: [ReadinessCheck, ReadinessReport, StatusService, SessionGauge.provider, SessionGauge],
  exports: [StatusService],
})
export class StatusModule {}
