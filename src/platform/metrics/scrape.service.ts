import { Injectable, type Provider, type Type } from '@nestjs/common';
import { getToken, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import { type Gauge, type GaugeConfiguration, register } from 'prom-client';

/** Brings a gauge up to date when somebody looks; throws when it cannot, and then the scrape fails as a whole. */
export type GaugeRefresh = () => Promise<void>;

/** What `/metrics` answers, on the operations port and in Profile A. */
@Injectable()
export class ScrapeService {
  private readonly observations: (() => void)[] = [];
  private readonly refreshes: GaugeRefresh[] = [];

  readonly contentType = register.contentType;

  /** Called once by each area that has gauges which nobody counts along. */
  onScrape(refresh: GaugeRefresh): void {
    this.refreshes.push(refresh);
  }

  /** Called once by who reads off something that the scrape's own questions would change, such as a queue's length. */
  beforeScrape(observe: () => void): void {
    this.observations.push(observe);
  }

  async render(): Promise<string> {
    // A statement is in the pool's queue until the end of its turn of the event loop, also when a connection is free.
    await new Promise(setImmediate);
    for (const observe of this.observations) observe();
    await Promise.all(this.refreshes.map((refresh) => refresh()));
    return register.metrics();
  }
}

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
