import type { Provider, Type } from '@nestjs/common';
import { getToken, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge, GaugeConfiguration } from 'prom-client';
import { ScrapeService } from './scrape.service.js';

/** A gauge without labels whose value is read off a service at each scrape. */
export function scrapedGauge<Source>(
  configuration: GaugeConfiguration<never>,
  source: Type<Source>,
  read: (source: Source) => number | Promise<number>,
): Provider[] {
  return [
    makeGaugeProvider(configuration),
    {
      provide: `refresh of ${configuration.name}`,
      inject: [getToken(configuration.name), ScrapeService, source],
      useFactory: (gauge: Gauge, scrape: ScrapeService, from: Source) => {
        scrape.onScrape(async () => gauge.set(await read(from)));
        return gauge;
      },
    },
  ];
}
