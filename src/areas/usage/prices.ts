import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { ModelUsage } from '../models/models.api.js';
import { costOf, type PriceRates } from './cost.js';
import { PriceCatalog } from './price-catalog.js';
import { PricesFile } from './prices-file.js';

type PriceTable = GatewaySettings['prices'];

/** Which model was asked for, and where. */
export interface PricedCall {
  /** The name of the provider's section. */
  readonly provider: string;
  /** `anthropic`, `openai` or `offline`. */
  readonly kind: string;
  /** By the name that the provider answered with. */
  readonly model: string;
  /** By the name that was asked for. */
  readonly requested: string;
}

const FREE: PriceRates = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/**
 * Prices of models: those of the prices file, else of `[prices]`, else of the catalogue that comes with the gateway. The
 * model is looked up by the name of the answer, then by that of the request.
 */
@Injectable()
export class Prices implements OnModuleInit, OnModuleDestroy {
  private readonly catalog = new PriceCatalog();
  private readonly file: PricesFile;

  constructor(
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.file = new PricesFile(() => settings.current.usage.prices_file, logs.for('usage::prices'));
  }

  /** Throws when the prices file cannot be read: a budget that counts other prices than it should is worse than no start. */
  onModuleInit(): void {
    this.file.open();
  }

  onModuleDestroy(): Promise<void> {
    return this.file.close();
  }

  /** Loads the catalogue if calls of this kind of provider are looked up in it; await it before `costOf`. */
  prepare(kind: string): Promise<void> | undefined {
    return kind === 'offline' || this.catalog.isLoaded ? undefined : this.catalog.load();
  }

  /** In US dollars; null when the price is unknown. */
  costOf(call: PricedCall, usage: ModelUsage): number | null {
    const rates = this.ratesOf(call, usage.input);
    return rates === undefined ? null : costOf(usage, rates);
  }

  private ratesOf({ provider, kind, model, requested }: PricedCall, inputTokens: number) {
    const names = model === requested ? [model] : [model, requested];
    for (const table of [this.file.prices, this.settings.current.prices]) {
      for (const name of names) {
        const price = own(table, `${provider}/${name}`);
        if (price !== undefined) return ratesIn(price);
      }
    }
    // The stand-in for a model calls nobody.
    if (kind === 'offline') return FREE;
    for (const name of names) {
      const rates = this.catalog.find(kind, name, inputTokens);
      if (rates !== undefined) return rates;
    }
    return undefined;
  }
}

function own(table: PriceTable, key: string): PriceTable[string] | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function ratesIn(price: PriceTable[string]): PriceRates | undefined {
  const { input, output } = price;
  if (input === undefined || output === undefined) return undefined;
  const { cached_input: cachedInput = input, cache_write: cacheWrite = input, reasoning = output } = price;
  return { input, output, cachedInput, cacheWrite, reasoning };
}
