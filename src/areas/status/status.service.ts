import { Injectable } from '@nestjs/common';
import { type BuildInfo, readBuildInfo } from '../../platform/lifecycle/build-info.js';
import { ChannelReports } from '../channels/channels.api.js';
import { McpServers, Sandbox } from '../mcp/mcp.api.js';
import { Memory } from '../memory/memory.api.js';
import { ModelChains } from '../models/models.api.js';
import { Plugins } from '../plugins/plugins.api.js';
import { SessionsService } from '../sessions/sessions.api.js';
import { HealthReport } from './health-report.js';

export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy';

export interface Health {
  readonly status: HealthStatus;
  readonly ready: boolean;
  readonly version: string;
  readonly uptimeSecs: number;
}

export interface Info extends Health {
  readonly builtAt: Date;
  readonly providerName: string;
  readonly model: string;
  readonly liveSessions: number;
  readonly activeSessions: number;
  readonly channels: { readonly connected: number; readonly total: number };
  readonly plugins: { readonly loaded: number; readonly total: number };
  readonly memory: { readonly backend: string; readonly entries: number };
  readonly sandboxBackend: string;
  /** Set when stdio servers run without the sandbox that they should have. */
  readonly sandboxWarning: string | undefined;
}

/** What the gateway reports about itself. Every figure is read when it is asked for. */
@Injectable()
export class StatusService {
  private readonly build: BuildInfo = readBuildInfo();

  constructor(
    private readonly report: HealthReport,
    private readonly sessions: SessionsService,
    private readonly models: ModelChains,
    private readonly memory: Memory,
    private readonly mcp: McpServers,
    private readonly sandbox: Sandbox,
    private readonly channels: ChannelReports,
    private readonly plugins: Plugins,
  ) {}

  async health(): Promise<Health> {
    const ready = (await this.report.ready()).status === 'ok';
    return {
      status: ready ? this.readinessLabel() : 'unhealthy',
      ready,
      version: this.build.version,
      uptimeSecs: Math.floor(process.uptime()),
    };
  }

  /** Throws `Unavailable` when the database does not answer. */
  async info(): Promise<Info> {
    const [health, { connected, total }, liveSessions, activeSessions, entries] = await Promise.all([
      this.health(),
      this.channels.summary(),
      this.sessions.count({ status: 'live' }),
      this.sessions.count({ status: 'active' }),
      this.memory.entries(),
    ]);
    const model = this.models.default;
    return {
      ...health,
      builtAt: this.build.builtAt,
      providerName: model.speaker.name,
      model: model.label,
      liveSessions,
      activeSessions,
      channels: { connected, total },
      plugins: this.plugins.summary,
      memory: { backend: this.memory.backend, entries },
      sandboxBackend: this.sandbox.backend,
      sandboxWarning: this.sandbox.warning,
    };
  }

  /** Degraded: requests are answered, but something that was configured does not work. */
  private readinessLabel(): HealthStatus {
    return this.mcp.isFailing || this.channels.isFailing ? 'degraded' : 'healthy';
  }
}
