import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import { ProviderFailed, ProviderTimedOut } from '../../common/errors/gateway-error.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import type { ModelUsage } from './model-provider.port.js';

const CALLS = 'agent_gateway_provider_calls_total';
const TOKENS = 'agent_gateway_provider_tokens_total';
const ESTIMATED = 'agent_gateway_provider_tokens_estimated_total';
/** Models of which it is remembered that the log has said so. */
const MAX_LOGGED = 1000;

export const modelCallMetricProviders = [
  makeCounterProvider({
    name: CALLS,
    help: 'Model provider calls by outcome; retries within a call are not counted separately.',
    labelNames: ['provider', 'outcome'],
  }),
  makeCounterProvider({
    name: TOKENS,
    help: 'Tokens of the model provider: as it counted them, or estimated where it sent no count.',
    labelNames: ['provider', 'direction'],
  }),
  makeCounterProvider({
    name: ESTIMATED,
    help: 'The part of agent_gateway_provider_tokens_total that is of calls with an estimate.',
    labelNames: ['provider', 'direction'],
  }),
];

/** Counts what is asked of the model provider, and what it used. */
@Injectable()
export class ModelCallMetrics {
  private readonly logger: Logger;
  private readonly logged = new Set<string>();

  constructor(
    @InjectMetric(CALLS) private readonly calls: Counter<'provider' | 'outcome'>,
    @InjectMetric(TOKENS) private readonly tokens: Counter<'provider' | 'direction'>,
    @InjectMetric(ESTIMATED) private readonly estimated: Counter<'provider' | 'direction'>,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::provider');
  }

  answered(provider: string): void {
    this.calls.inc({ provider, outcome: 'success' });
  }

  /** What one call used, also one that broke off. */
  used(provider: string, usage: ModelUsage): void {
    const counters = usage.estimated === true ? [this.tokens, this.estimated] : [this.tokens];
    for (const counter of counters) {
      counter.inc({ provider, direction: 'input' }, usage.input);
      counter.inc({ provider, direction: 'output' }, usage.output);
    }
  }

  /** Says once for each model that its provider counts no tokens. */
  answeredWithoutUsage(provider: string, model: string): void {
    if (this.logged.has(model) || this.logged.size >= MAX_LOGGED) return;
    this.logged.add(model);
    this.logger.warn('the provider sends no token counts for this model; budgets count an estimate', {
      provider,
      model,
    });
  }

  failed(provider: string, error: unknown): void {
    this.calls.inc({ provider, outcome: outcomeOf(error) });
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof ProviderTimedOut) return 'timeout';
  return error instanceof ProviderFailed ? 'error' : 'aborted';
}
