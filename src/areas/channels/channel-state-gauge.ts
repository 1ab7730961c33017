import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { CHANNEL_STATUSES } from './channel.port.js';
import { ChannelReports } from './channel-reports.service.js';

const NAME = 'agent_gateway_channel_status';

/** One sample for each enabled channel and status: 1 for its current status, 0 for the others. */
@Injectable()
export class ChannelStateGauge implements OnModuleInit {
  static readonly provider = makeGaugeProvider({
    name: NAME,
    help: 'Status of each enabled channel, the same on every replica: 1 for the current status.',
    labelNames: ['channel', 'status'],
  });

  constructor(
    @InjectMetric(NAME) private readonly gauge: Gauge<'channel' | 'status'>,
    private readonly channels: ChannelReports,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.onScrape(async () => {
      const current = await this.channels.statuses();
      // Drops the channels that the configuration no longer has.
      this.gauge.reset();
      for (const [channel, now] of current) {
        for (const status of CHANNEL_STATUSES) this.gauge.set({ channel, status }, status === now ? 1 : 0);
      }
    });
  }
}
