import { Injectable } from '@nestjs/common';
import { createNoopMeter, type Histogram, type Meter, metrics, type Span } from '@opentelemetry/api';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Counter } from 'prom-client';
import { ProviderFailed, ProviderTimedOut } from '../../common/errors/gateway-error.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { childrenOf } from '../../platform/metrics/labelled.js';
import { SpanContent } from '../../platform/tracing/span-content.js';
import { errorType, inSpan } from '../../platform/tracing/spans.js';
import { USAGE_PARTS } from './estimated-usage.js';
import { type SaidContent, saidContent, sentContent } from './model-call-content.js';
import type { ModelProvider, ModelRequest, ModelUsage } from './model-provider.port.js';

const CALLS = 'agent_gateway_provider_calls_total';
const TOKENS = 'agent_gateway_provider_tokens_total';
const PART_TOKENS = 'agent_gateway_provider_part_tokens_total';
const ESTIMATED = 'agent_gateway_provider_tokens_estimated_total';
/** How many models are remembered for which the log already has the line. */
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
    name: PART_TOKENS,
    help: 'Parts of agent_gateway_provider_tokens_total: cached_input and cache_write of the input, reasoning of the output.',
    labelNames: ['provider', 'part'],
  }),
  makeCounterProvider({
    name: ESTIMATED,
    help: 'The part of agent_gateway_provider_tokens_total that comes from calls whose count is an estimate.',
    labelNames: ['provider', 'direction'],
  }),
];

const PART_LABELS = {
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
} as const;

/** The boundaries that OpenTelemetry's conventions for generative AI recommend. */
const TOKEN_BOUNDARIES = Array.from({ length: 14 }, (_, power) => 4 ** power);
const SECOND_BOUNDARIES = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);

type CounterOf = (provider: string, other?: string) => Counter.Internal;

/** What a finished call reports. */
export interface AnsweredCall extends SaidContent {
  readonly usage: ModelUsage;
  readonly model: string;
}

/** Measures calls of models: a span, counters, and the client metrics of OpenTelemetry's conventions. */
@Injectable()
export class ModelCallMetrics {
  private readonly logger: Logger;
  private readonly logged = new Set<string>();
  private readonly clientMetrics = new ClientMetrics();
  private readonly callsOf: CounterOf;
  private readonly tokensOf: CounterOf;
  private readonly partTokensOf: CounterOf;
  private readonly estimatedOf: CounterOf;

  constructor(
    @InjectMetric(CALLS) calls: Counter<'provider' | 'outcome'>,
    @InjectMetric(TOKENS) tokens: Counter<'provider' | 'direction'>,
    @InjectMetric(PART_TOKENS) partTokens: Counter<'provider' | 'part'>,
    @InjectMetric(ESTIMATED) estimated: Counter<'provider' | 'direction'>,
    private readonly content: SpanContent,
    logs: Logs,
  ) {
    this.callsOf = childrenOf(calls);
    this.tokensOf = childrenOf(tokens);
    this.partTokensOf = childrenOf(partTokens);
    this.estimatedOf = childrenOf(estimated);
    this.logger = logs.for('agent::provider');
  }

  /** Runs one call of a model. Passes its usage to `used`, also for a call that breaks off. */
  async measure<Answer extends AnsweredCall>(
    provider: ModelProvider,
    request: ModelRequest,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    const startedAt = performance.now();
    try {
      const answer = await inSpan(
        {
          name: `chat ${request.model}`,
          isCall: true,
          attributes: () => ({
            ...callAttributes(provider, request),
            ...requestAttributes(request),
            ...(this.content.isWanted && sentContent(request, this.content)),
          }),
        },
        (span) => (span === undefined ? call() : this.described(span, call)),
      );
      this.callsOf(provider.name, 'success').inc();
      if (answer.usage.estimated === true) this.answeredWithoutUsage(provider.name, answer.model);
      this.clientMetrics.answered(provider, request, startedAt, answer);
      return answer;
    } catch (error) {
      this.callsOf(provider.name, outcomeOf(error)).inc();
      this.clientMetrics.failed(provider, request, startedAt, error);
      throw error;
    }
  }

  private async described<Answer extends AnsweredCall>(
    span: Span,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    const given = await call();
    span.setAttributes(answerAttributes(given));
    if (this.content.isWanted) span.setAttributes(saidContent(given, this.content));
    return given;
  }

  /** The usage of one call, also of one that broke off. */
  used(provider: string, usage: ModelUsage): void {
    const counters = usage.estimated === true ? [this.tokensOf, this.estimatedOf] : [this.tokensOf];
    for (const counterOf of counters) {
      counterOf(provider, 'input').inc(usage.input);
      counterOf(provider, 'output').inc(usage.output);
    }
    for (const part of USAGE_PARTS) {
      const tokens = usage[part] ?? 0;
      if (tokens > 0) this.partTokensOf(provider, PART_LABELS[part]).inc(tokens);
    }
  }

  /** Logs once for each model that its provider counts no tokens. */
  private answeredWithoutUsage(provider: string, model: string): void {
    if (this.logged.has(model) || this.logged.size >= MAX_LOGGED) return;
    this.logged.add(model);
    this.logger.warn('the provider sends no token counts for this model; budgets count an estimate', {
      provider,
      model,
    });
  }
}

/** Receives the measurements while metrics are not exported. */
const NOBODY = createNoopMeter();

/** `gen_ai.client.operation.duration` and `gen_ai.client.token.usage`; costs nothing while metrics are not exported. */
class ClientMetrics {
  private durations: Histogram | undefined;
  private tokens: Histogram | undefined;

  answered(
    provider: ModelProvider,
    request: ModelRequest,
    startedAt: number,
    { model, usage }: AnsweredCall,
  ): void {
    const meter = metrics.getMeter('agent-gateway');
    if (meter === NOBODY) return;
    const all = { ...callAttributes(provider, request), 'gen_ai.response.model': model };
    this.duration(meter, startedAt, all);
    this.tokens ??= meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Number of input and output tokens used.',
      unit: '{token}',
      advice: { explicitBucketBoundaries: TOKEN_BOUNDARIES },
    });
    this.tokens.record(usage.input, { ...all, 'gen_ai.token.type': 'input' });
    this.tokens.record(usage.output, { ...all, 'gen_ai.token.type': 'output' });
  }

  failed(provider: ModelProvider, request: ModelRequest, startedAt: number, error: unknown): void {
    const meter = metrics.getMeter('agent-gateway');
    if (meter === NOBODY) return;
    this.duration(meter, startedAt, {
      ...callAttributes(provider, request),
      'error.type': errorType(error),
    });
  }

  private duration(
    meter: Meter,
    startedAt: number,
    attributes: Readonly<Record<string, string | number>>,
  ): void {
    this.durations ??= meter.createHistogram('gen_ai.client.operation.duration', {
      description: 'Duration of calls of models.',
      unit: 's',
      advice: { explicitBucketBoundaries: SECOND_BOUNDARIES },
    });
    this.durations.record((performance.now() - startedAt) / 1000, attributes);
  }
}

/** The names are those of OpenTelemetry's conventions for generative AI. */
function callAttributes({ name, address }: ModelProvider, { model }: ModelRequest) {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': name,
    'gen_ai.request.model': model,
    ...(address !== undefined && { 'server.address': address.host, 'server.port': address.port }),
  };
}

function requestAttributes({ maxOutputTokens, conversationId, sampling = {}, responseFormat }: ModelRequest) {
  const { temperature, topP, stop } = sampling;
  return {
    'gen_ai.request.max_tokens': maxOutputTokens,
    ...(conversationId !== undefined && { 'gen_ai.conversation.id': conversationId }),
    ...(temperature !== undefined && { 'gen_ai.request.temperature': temperature }),
    ...(topP !== undefined && { 'gen_ai.request.top_p': topP }),
    ...(stop !== undefined && { 'gen_ai.request.stop_sequences': [...stop] }),
    ...(responseFormat !== undefined && { 'gen_ai.output.type': 'json' }),
  };
}

function answerAttributes({ model, usage, finishReason }: AnsweredCall) {
  return {
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reasons': [finishReason],
    ...usageAttributes(usage),
  };
}

/** What a span says of the tokens of one call, or of all calls of a turn. */
export function usageAttributes(usage: ModelUsage): Readonly<Record<string, number | boolean>> {
  const { cachedInput, cacheWrite, reasoning } = usage;
  return {
    'gen_ai.usage.input_tokens': usage.input,
    'gen_ai.usage.output_tokens': usage.output,
    ...(cachedInput !== undefined && { 'gen_ai.usage.cache_read.input_tokens': cachedInput }),
    ...(cacheWrite !== undefined && { 'gen_ai.usage.cache_creation.input_tokens': cacheWrite }),
    ...(reasoning !== undefined && { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
    ...(usage.estimated === true && { 'gateway.usage.estimated': true }),
  };
}

function outcomeOf(error: unknown): string {
  if (error instanceof ProviderTimedOut) return 'timeout';
  return error instanceof ProviderFailed ? 'error' : 'aborted';
}
