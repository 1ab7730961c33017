import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { PLUGIN_STATUSES } from './plugin.js';
import { Plugins } from './plugins.service.js';

const STATUS = 'agent_gateway_plugin_status';
const MEMORY = 'agent_gateway_plugin_memory_bytes';

/** One sample for each plugin and status, and the memory of each plugin. */
@Injectable()
export class PluginGauges implements OnModuleInit {
  static readonly providers = [
    makeGaugeProvider({
      name: STATUS,
      help: 'Status of each plugin on this replica: 1 for the one it has.',
      labelNames: ['plugin', 'status'],
    }),
    makeGaugeProvider({
      name: MEMORY,
      help: 'Linear memory and buffers of each plugin as of its last call, in bytes.',
      labelNames: ['plugin'],
    }),
  ];

  constructor(
    @InjectMetric(STATUS) private readonly status: Gauge<'plugin' | 'status'>,
    @InjectMetric(MEMORY) private readonly memory: Gauge<'plugin'>,
    private readonly plugins: Plugins,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.onScrape(() => {
      for (const { name: plugin, status: current, memoryBytes } of this.plugins.list()) {
        this.memory.set({ plugin }, memoryBytes);
        for (const status of PLUGIN_STATUSES) this.status.set({ plugin, status }, status === current ? 1 : 0);
      }
      return Promise.resolve();
    });
  }
}
