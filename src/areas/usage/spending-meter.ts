import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import type { ModelUsage } from '../models/models.api.js';
import type { ModelSpending } from './cost.js';
import { type PricedCall, Prices } from './prices.js';

const COST = 'agent_gateway_cost_usd_total';
/** Callers may name any model, so the label is bounded: past this the model is `other`. */
const MAX_MODELS = 200;

export const costMetric = makeCounterProvider({
  name: COST,
  help: 'Cost of model calls in US dollars, where the price is known; past 200 models of this process the model is "other".',
  labelNames: ['agent', 'provider', 'model'],
});

/** Prices each call of a model. */
@Injectable()
export class SpendingMeter {
  private readonly models = new Set<string>();

  constructor(
    private readonly prices: Prices,
    @InjectMetric(COST) private readonly cost: Counter<'agent' | 'provider' | 'model'>,
  ) {}

  /** Await it before the call, if it returns a promise. */
  prepare(kind: string): Promise<void> | undefined {
    return this.prices.prepare(kind);
  }

  /** What a call used and cost. */
  spent(agent: string, call: PricedCall, usage: ModelUsage): ModelSpending {
    const costUsd = this.prices.costOf(call, usage);
    const { provider, model } = call;
    if (costUsd !== null) this.cost.inc({ agent, provider, model: this.labelOf(model) }, costUsd);
    return { provider, model, usage, costUsd };
  }

  private labelOf(model: string): string {
    if (this.models.has(model)) return model;
    if (this.models.size >= MAX_MODELS) return 'other';
    this.models.add(model);
    return model;
  }
}
