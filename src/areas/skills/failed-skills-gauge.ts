import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { Skills } from './skills.service.js';

const NAME = 'agent_gateway_skills_failed';

/** The number of skills that this replica could not load. */
@Injectable()
export class FailedSkillsGauge implements OnModuleInit {
  static readonly provider = makeGaugeProvider({
    name: NAME,
    help: 'Skills that this replica could not load, or whose newest version it could not.',
  });

  constructor(
    @InjectMetric(NAME) private readonly gauge: Gauge,
    private readonly skills: Skills,
    private readonly scrape: ScrapeService,
  ) {}

  onModuleInit(): void {
    this.scrape.onScrape(() => {
      this.gauge.set(this.skills.failed().length);
      return Promise.resolve();
    });
  }
}
