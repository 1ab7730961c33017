import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { ModelPrice as CatalogPrice } from '@pydantic/genai-prices';
import { Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { ModelUsage } from '../models/models.api.js';
import { costOf, type PriceRates } from './cost.js';
import { PricesFile } from './prices-file.js';

type PriceTable = GatewaySettings['prices'];

/** Which model was asked, and where. */
export interface PricedCall {
  /** The name of the provider's section. */
  readonly provider: string;
  /** `anthropic`, `openai` or `offline`. */
  readonly kind: string;
  /** The name that the provider answered with. */
  readonly model: string;
  /** The name that was requested. */
  readonly requested: string;
}

const FREE: PriceRates = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/**
 * Prices of models: those of the price file, else of `[prices]`, else of the catalogue that comes with the gateway. The
 * model is looked up by the name in the answer, then by the one in the request.
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

  /** Throws when the price file cannot be read: wrong prices in budgets are worse than no start. */
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

type Catalog = typeof import('@pydantic/genai-prices');

/** How many models are cached; a caller may name any. */
const MAX_REMEMBERED = 1000;
/** Some prices apply at certain hours or from a certain day on. */
const REMEMBERED_MS = 600_000;

type RatesOf = (inputTokens: number) => PriceRates;

interface Remembered {
  readonly ratesOf: RatesOf | undefined;
  readonly until: number;
}

/** The prices that come with the gateway (`@pydantic/genai-prices`). They are large, and loaded when one is needed. */
class PriceCatalog {
  private catalog: Catalog | undefined;
  private loading: Promise<void> | undefined;
  private readonly remembered = new Map<string, Remembered>();

  get isLoaded(): boolean {
    return this.catalog !== undefined;
  }

  load(): Promise<void> {
    this.loading ??= import('@pydantic/genai-prices').then((catalog) => {
      this.catalog = catalog;
    });
    return this.loading;
  }

  /**
   * For a call with so many input tokens, on which the price of some models depends. Undefined for an unknown model.
   */
  find(kind: string, model: string, inputTokens: number): PriceRates | undefined {
    const key = `${kind}/${model}`;
    const now = Date.now();
    let known = this.remembered.get(key);
    if (known === undefined || known.until < now) {
      known = { ratesOf: this.look(kind, model), until: now + REMEMBERED_MS };
      if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
      this.remembered.set(key, known);
    }
    return known.ratesOf?.(inputTokens);
  }

  private look(kind: string, model: string): RatesOf | undefined {
    const found = this.catalog?.calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { providerId: kind });
    return found ? ratesOf(found.model_price) : undefined;
  }
}

function ratesOf(price: CatalogPrice): RatesOf | undefined {
  if (price.input_mtok === undefined || price.output_mtok === undefined) return undefined;
  return (inputTokens) => {
    const at = (name: string, otherwise: number): number => {
      const rate = price[name];
      if (rate === undefined || typeof rate === 'number') return rate ?? otherwise;
      return rate.tiers.findLast(({ start }) => inputTokens > start)?.price ?? rate.base;
    };
    const input = at('input_mtok', 0);
    const output = at('output_mtok', 0);
    return {
      input,
      output,
      cachedInput: at('cache_read_mtok', input),
      cacheWrite: at('cache_write_mtok', input),
      reasoning: output,
    };
  };
}
