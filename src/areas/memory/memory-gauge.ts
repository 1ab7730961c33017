import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { Memory } from './memory.service.js';

const ENTRIES = 'agent_gateway_memory_entries';

/** The number of memories, as status pages show it. */
@Injectable()
export class MemoryGauge implements OnModuleInit {
  static readonly provider = makeGaugeProvider({
    name: ENTRIES,
    help: 'Memories of all users; 0 while memory is switched off.',
  });

  constructor(
    @InjectMetric(ENTRIES) private readonly gauge: Gauge,
    private readonly memory: Memory,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.onScrape(async () => this.gauge.set(await this.memory.entries()));
  }
}
