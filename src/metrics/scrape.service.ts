import { Injectable } from '@nestjs/common';
import { register } from 'prom-client';

/** Brings a gauge up to date when somebody looks; throws when it cannot, and then the scrape fails as a whole. */
export type GaugeRefresh = () => Promise<void>;

/** What `/metrics` answers, on the operations port and in Profile A. */
@Injectable()
export class ScrapeService {
  private readonly refreshes: GaugeRefresh[] = [];

  readonly contentType = register.contentType;

  /** Called once by each area that has gauges which nobody counts along. */
  onScrape(refresh: GaugeRefresh): void {
    this.refreshes.push(refresh);
  }

  async render(): Promise<string> {
    await Promise.all(this.refreshes.map((refresh) => refresh()));
    return register.metrics();
  }
}
