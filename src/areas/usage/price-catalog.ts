import type { ModelPrice as CatalogPrice } from '@pydantic/genai-prices';
import type { PriceRates } from './cost.js';

type Catalog = typeof import('@pydantic/genai-prices');

/** Models that are remembered; a caller may name any. */
const MAX_REMEMBERED = 1000;
/** Some prices hold for certain hours or from a day on. */
const REMEMBERED_MS = 600_000;

type RatesOf = (inputTokens: number) => PriceRates;

interface Remembered {
  readonly ratesOf: RatesOf | undefined;
  readonly until: number;
}

/** The prices that come with the gateway (`@pydantic/genai-prices`). They are large, and loaded when one is needed. */
export class PriceCatalog {
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

  /** For a call with so many input tokens, which decide the price of some models. Undefined for an unknown one. */
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
