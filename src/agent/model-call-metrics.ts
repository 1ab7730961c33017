import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import { ProviderFailed, ProviderTimedOut } from '../errors/gateway-error.js';
import type { ModelUsage } from './model-provider.port.js';

const CALLS = 'agent_gateway_provider_calls_total';
const TOKENS = 'agent_gateway_provider_tokens_total';

export const modelCallMetricProviders = [
  makeCounterProvider({
    name: CALLS,
    help: 'Calls of the model provider by what came of them; retries within a call are not counted apart.',
    labelNames: ['provider', 'outcome'],
  }),
  makeCounterProvider({
    name: TOKENS,
    help: 'Tokens that the model provider counted.',
    labelNames: ['provider', 'direction'],
  }),
];

/** Counts what is asked of the model provider, and what it used. */
@Injectable()
export class ModelCallMetrics {
  constructor(
    @InjectMetric(CALLS) private readonly calls: Counter<'provider' | 'outcome'>,
    @InjectMetric(TOKENS) private readonly tokens: Counter<'provider' | 'direction'>,
  ) {}

  answered(provider: string, { input, output }: ModelUsage): void {
    this.calls.inc({ provider, outcome: 'success' });
    this.tokens.inc({ provider, direction: 'input' }, input);
    this.tokens.inc({ provider, direction: 'output' }, output);
  }

  failed(provider: string, error: unknown): void {
    this.calls.inc({ provider, outcome: outcomeOf(error) });
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof ProviderTimedOut) return 'timeout';
  return error instanceof ProviderFailed ? 'error' : 'aborted';
}
