import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Counter } from 'prom-client';
import { modelRequest } from '../../../test/harness/model-call.js';
import { ProviderFailed } from '../../common/errors/gateway-error.js';
import type { Logs } from '../../platform/logging/logger.js';
import type { SpanContent } from '../../platform/tracing/span-content.js';
import { type AnsweredCall, ModelCallMetrics } from './model-call-metrics.js';
import type { ModelProvider } from './model-provider.port.js';

const provider = { name: 'openai', address: { host: 'models.example', port: 443 } } as ModelProvider;
const answer: AnsweredCall = {
  usage: { input: 120, output: 30, cachedInput: 100, cacheWrite: 0, reasoning: 20 },
  model: 'a-model-2',
  finishReason: 'stop',
};

function measured() {
  const counted: unknown[] = [];
  const counter = (name: string) =>
    ({
      labels: (...labels: string[]) => ({ inc: (by = 1) => counted.push([name, ...labels, by]) }),
    }) as unknown as Counter;
  const logs = { for: () => ({ warn: () => undefined }) } as unknown as Logs;
  const calls = new ModelCallMetrics(
    counter('calls'),
    counter('tokens'),
    counter('parts'),
    counter('estimated'),
    { isWanted: false } as SpanContent,
    logs,
  );
  return { calls, counted };
}

test('tokens are counted by direction, and their parts separately', () => {
  const { calls, counted } = measured();
  calls.used('openai', answer.usage);
  expect(counted).toEqual([
    ['tokens', 'openai', 'input', 120],
    ['tokens', 'openai', 'output', 30],
    ['parts', 'openai', 'cached_input', 100],
    ['parts', 'openai', 'reasoning', 20],
  ]);
});

test("calls are measured by OpenTelemetry's conventions for generative AI", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const { calls } = measured();
  const request = modelRequest([], { model: 'a-model' });
  await calls.measure(provider, request, () => Promise.resolve(answer));
  const failure = new ProviderFailed('No.', { details: { reason: 'provider_rate_limited' } });
  await expect(calls.measure(provider, request, () => Promise.reject(failure))).rejects.toBe(failure);
  await reader.forceFlush();
  metrics.disable();
  const points = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics)
    .flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({ name: descriptor.name, attributes, value })),
    );
  const asked = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'a-model',
    'server.address': 'models.example',
    'server.port': 443,
  };
  const answered = { ...asked, 'gen_ai.response.model': 'a-model-2' };
  const tokens = points.filter(({ name }) => name === 'gen_ai.client.token.usage');
  expect(tokens).toMatchObject([
    { attributes: { ...answered, 'gen_ai.token.type': 'input' }, value: { sum: 120, count: 1 } },
    { attributes: { ...answered, 'gen_ai.token.type': 'output' }, value: { sum: 30, count: 1 } },
  ]);
  const durations = points.filter(({ name }) => name === 'gen_ai.client.operation.duration');
  expect(durations.map(({ attributes }) => attributes)).toEqual([
    answered,
    { ...asked, 'error.type': 'provider_rate_limited' },
  ]);
});
