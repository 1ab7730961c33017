import { Injectable, type Provider, type Type } from '@nestjs/common';
import { getToken, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import { type Gauge, type GaugeConfiguration, register } from 'prom-client';
import { type Logger, Logs } from '../logging/logger.js';
import { withDeadline } from '../runtime/with-deadline.js';

/** How long a scrape waits for a figure; Prometheus gives up after ten seconds by default. */
const PATIENCE_MS = 2500;

/** Updates gauges at each scrape. While it fails, or takes longer than 2.5 s, they have no sample. */
export type GaugeRefresh = () => Promise<void>;

interface Refreshed {
  readonly gauges: readonly Gauge[];
  readonly refresh: GaugeRefresh;
  /** Shared by scrapes while it has not ended, so that none of them adds a statement to those that hang. */
  running: Promise<void> | undefined;
}

/** What `/metrics` answers, on the operations port and in Profile A. */
@Injectable()
export class ScrapeService {
  private readonly observations: (() => void)[] = [];
  private readonly refreshed: Refreshed[] = [];
  private readonly logger: Logger;
  private isComplete = true;
  protected readonly patienceMs: number = PATIENCE_MS;

  /** One for all that ask meanwhile, so that a flood of scrapes is neither one of statements nor of texts. */
  private rendering: Promise<string> | undefined;

  readonly contentType = register.contentType;

  constructor(logs: Logs) {
    this.logger = logs.for('metrics');
  }

  /** Called once for gauges that each scrape updates. */
  onScrape(gauges: readonly Gauge[], refresh: GaugeRefresh): void {
    this.refreshed.push({ gauges, refresh, running: undefined });
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
    const failures = await Promise.all(this.refreshed.map((one) => this.update(one)));
    this.tell(failures.find((failure) => failure !== undefined));
  }

  /** @returns why these gauges are not known; undefined when they are */
  private async update(one: Refreshed): Promise<Error | undefined> {
    try {
      one.running ??= one.refresh().finally(() => {
        one.running = undefined;
      });
      await withDeadline(one.running, this.patienceMs, () => {
        throw new Error(`no answer within ${this.patienceMs} ms`);
      });
      return undefined;
    } catch (error) {
      for (const gauge of one.gauges) forget(gauge);
      return error as Error;
    }
  }

  private tell(failure: Error | undefined): void {
    if ((failure === undefined) === this.isComplete) return;
    this.isComplete = failure === undefined;
    if (failure === undefined) this.logger.info('all metrics can be read again');
    else this.logger.warn('some metrics cannot be read: scrapes leave them out', { reason: String(failure) });
  }
}

/** Without a sample nobody takes an old value, or a zero, for what is. */
function forget(gauge: Gauge): void {
  gauge.reset();
  // A gauge without labels would be left at zero.
  gauge.remove({});
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
        scrape.onScrape([gauge], async () => show(gauge, await read(from)));
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
