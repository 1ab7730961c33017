import { addUsage, type ModelUsage } from '../models/models.api.js';

/** US dollars for a million tokens of each kind. */
export interface PriceRates {
  /** Input that is neither read from the provider's cache nor written to it. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  /** Output other than reasoning. */
  readonly output: number;
  readonly reasoning: number;
}

const MILLION = 1_000_000;

/** What tokens cost, in US dollars. */
export function costOf(
  { input, output, cachedInput = 0, cacheWrite = 0, reasoning = 0 }: ModelUsage,
  rates: PriceRates,
): number {
  const plain = Math.max(0, input - cachedInput - cacheWrite);
  const said = Math.max(0, output - reasoning);
  const millionths =
    plain * rates.input +
    cachedInput * rates.cachedInput +
    cacheWrite * rates.cacheWrite +
    said * rates.output +
    reasoning * rates.reasoning;
  return millionths / MILLION;
}

/** What calls of one model used and cost. Plain JSON: it is stored with the steps of a turn. */
export interface ModelSpending {
  /** The name of the provider's section: `default`, or one of `[providers]`. */
  readonly provider: string;
  /** The provider's name for it. */
  readonly model: string;
  readonly usage: ModelUsage;
  /** Null when the price is unknown. */
  readonly costUsd: number | null;
}

/** What a turn used, by provider, model and whether the price was known, in the order in which they were first called. */
export class TurnSpending {
  private readonly parts = new Map<string, ModelSpending[]>();
  private unstored: ModelSpending[] = [];

  constructor(private readonly fallback: { readonly provider: string; readonly model: string }) {}

  add(spent: ModelSpending): void {
    this.count(spent);
    this.unstored.push(spent);
  }

  /** What another replica spent on the turn, and stored, before this one took it up. */
  restore(spent: readonly ModelSpending[]): void {
    for (const one of spent) this.count(one);
  }

  /** What was added since the last call: it goes into the turn's next step. */
  takeUnstored(): readonly ModelSpending[] {
    const taken = this.unstored;
    this.unstored = [];
    return taken;
  }

  /** The known part of its cost, in US dollars. */
  get costUsd(): number {
    return [...this.parts.values()].flat().reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  }

  /** All tokens, of whatever model. */
  get usage(): ModelUsage {
    return [...this.parts.values()]
      .flat()
      .reduce((sum, { usage }) => addUsage(sum, usage), { input: 0, output: 0 });
  }

  /** Whether a model was called. */
  get isAny(): boolean {
    return this.parts.size > 0;
  }

  /** Rows of `recordUsage`; the turn itself, if there is one, counts towards the model that was called last. */
  rows(turns: 0 | 1 = 1): UsageRow[] {
    const rows = [...this.parts.values()].map((calls) => rowOf(calls));
    const last = rows.pop() ?? rowOf([{ ...this.fallback, usage: { input: 0, output: 0 }, costUsd: null }]);
    return [...rows, { ...last, turns }];
  }

  private count(spent: ModelSpending): void {
    const key = JSON.stringify([spent.provider, spent.model]);
    const known = this.parts.get(key) ?? [];
    // The model that was called last comes last.
    this.parts.delete(key);
    this.parts.set(key, [...known, spent]);
  }
}

/** In the form that the statements read that end a turn. */
export interface UsageRow {
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  readonly input: number;
  readonly cached_input: number;
  readonly cache_write: number;
  readonly output: number;
  readonly reasoning: number;
  readonly unpriced: number;
  /** Decimal text, so that the database adds it up exactly. */
  readonly cost: string | null;
}

/**
 * Digits after the decimal point of a cost: a token of the cheapest models costs about a hundred-millionth of a dollar.
 */
const COST_DIGITS = 12;

function rowOf(calls: readonly ModelSpending[]): UsageRow {
  const [first] = calls;
  const sum = { input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0, unpriced: 0 };
  let cost: number | null = null;
  for (const { usage, costUsd } of calls) {
    sum.input += usage.input;
    sum.cached_input += usage.cachedInput ?? 0;
    sum.cache_write += usage.cacheWrite ?? 0;
    sum.output += usage.output;
    sum.reasoning += usage.reasoning ?? 0;
    if (costUsd === null) sum.unpriced += usage.input + usage.output;
    else cost = (cost ?? 0) + costUsd;
  }
  return {
    provider: first?.provider ?? '',
    model: first?.model ?? '',
    turns: 0,
    ...sum,
    cost: cost === null ? null : cost.toFixed(COST_DIGITS),
  };
}
