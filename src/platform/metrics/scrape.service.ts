import { Injectable, type Provider, type Type } from '@nestjs/common';
import { getToken, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import { type Gauge, type GaugeConfiguration, register } from 'prom-client';

/** Updates a gauge at each scrape. When it throws, the whole scrape fails. */
export type GaugeRefresh = () => Promise<void>;

/** What `/metrics` answers, on the operations port and in Profile A. */
@Injectable()
export class ScrapeService {
  private readonly observations: (() => void)[] = [];
  private readonly refreshes: GaugeRefresh[] = [];

  /** One for all that ask meanwhile, so that a flood of scrapes is neither one of statements nor of texts. */
  private rendering: Promise<string> | undefined;

  readonly contentType = register.contentType;

  /** Called once by each area that has gauges to update at each scrape. */
  onScrape(refresh: GaugeRefresh): void {
    this.refreshes.push(refresh);
  }

  /** Called once for each value that the queries of a scrape would change, such as the length of a queue. */
  beforeScrape(observe: () => void): void {
    this.observations.push(observe);
  }

  async render(): Promise<string> {
    // A statement waits in the pool's queue until the event loop's current turn ends, even when a connection is free.
    await new Promise(setImmediate);
    this.rendering ??= this.refresh()
      // Counters are read last: whoever asked meanwhile finds what was counted before they asked.
      .then(() => register.metrics())
      .finally(() => {
        this.rendering = undefined;
      });
    return this.rendering;
  }

  private async refresh(): Promise<void> {
    for (const observe of this.observations) observe();
    await Promise.all(this.refreshes.map((refresh) => refresh()));
  }
}

/** One value of a gauge with labels. */
export interface Sample<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

type Reading<Label extends string> = number | readonly Sample<Label>[];

/** A gauge that each scrape reads from a service: a number, or with labels the samples that exist at that moment. */
export function scrapedGauge<Source, Label extends string = never>(
  configuration: GaugeConfiguration<Label>,
  source: Type<Source>,
  read: (source: Source) => Reading<Label> | Promise<Reading<Label>>,
): Provider[] {
  return [
    makeGaugeProvider(configuration),
    {
      provide: `refresh of ${configuration.name}`,
      inject: [getToken(configuration.name), ScrapeService, source],
      useFactory: (gauge: Gauge<Label>, scrape: ScrapeService, from: Source) => {
        scrape.onScrape(async () => show(gauge, await read(from)));
        return gauge;
      },
    },
  ];
}

function show<Label extends string>(gauge: Gauge<Label>, reading: Reading<Label>): void {
  if (typeof reading === 'number') {
    gauge.set(reading);
    return;
  }
  // Labels that had a sample before may no longer exist.
  gauge.reset();
  for (const { labels, value } of reading) gauge.set(labels, value);
}

/** One sample for each subject and status: 1 for its current status, 0 for the others. */
export function statusSamples<Label extends string, Status extends string>(
  label: Label,
  statuses: readonly Status[],
  current: Iterable<readonly [subject: string, status: Status]>,
): Sample<Label | 'status'>[] {
  return [...current].flatMap(([subject, now]) =>
    statuses.map((status) => ({
      labels: { [label]: subject, status } as Record<Label | 'status', string>,
      value: status === now ? 1 : 0,
    })),
  );
}
