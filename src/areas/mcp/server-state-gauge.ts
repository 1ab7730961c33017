import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { MCP_SERVER_STATUSES } from './mcp-server.js';
import { McpServers } from './mcp-servers.service.js';

const NAME = 'agent_gateway_mcp_server_status';

/** One sample for each server and status: 1 for the status it has, 0 for the others. */
@Injectable()
export class ServerStateGauge implements OnModuleInit {
  static readonly provider = makeGaugeProvider({
    name: NAME,
    help: 'Status of each MCP server as this replica sees it: 1 for the one it has.',
    labelNames: ['server', 'status'],
  });

  constructor(
    @InjectMetric(NAME) private readonly gauge: Gauge<'server' | 'status'>,
    private readonly servers: McpServers,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.onScrape(() => {
      // Servers come and go with the configuration.
      this.gauge.reset();
      for (const { name: server, status: current } of this.servers.list()) {
        for (const status of MCP_SERVER_STATUSES) {
          this.gauge.set({ server, status }, status === current ? 1 : 0);
        }
      }
      return Promise.resolve();
    });
  }
}
