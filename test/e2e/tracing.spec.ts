import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { setExporting } from '../../src/platform/tracing/spans.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const MESSAGES = 'POST /api/v1/sessions/:id/messages';

describe('the spans of this process', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const named = (name: string): ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.name === name);
  const placed = (span: ReadableSpan | undefined) => ({
    traceId: span?.spanContext().traceId,
    parent: span?.parentSpanContext?.spanId,
  });
  let model: LLMock;
  let gateway: TestGateway;

  beforeAll(async () => {
    provider.register();
    setExporting(true);
    model = new LLMock({ port: 0 });
    await model.start();
    gateway = await startTestGateway({
      env: {
        GATEWAY__PROVIDER__KIND: 'openai',
        GATEWAY__PROVIDER__BASE_URL: `${model.url}/v1`,
        GATEWAY__PROVIDER__API_KEY: 'key-of-nobody-1234',
        GATEWAY__PROVIDER__MODEL: 'a-model',
        GATEWAY__PROVIDER__MAX_RETRIES: '0',
        GATEWAY__PROVIDERS__SPARE__KIND: 'offline',
        GATEWAY__AGENTS__DUO__MODELS: 'default/a-model,spare/offline',
      },
    });
    gateway.tools.register({
      name: 'clock',
      description: 'Tells the time.',
      inputSchema: { type: 'object' },
      run: () => Promise.resolve('noon'),
    });
  });
  afterAll(async () => {
    setExporting(false);
    await gateway.stop();
    await model.stop();
    await provider.shutdown();
    for (const global of [trace, context, propagation]) global.disable();
  });

  test('a request, its turn, and the calls of the model and of a tool are one trace, from the caller to the model', async () => {
    model.onToolResult('call_a', { content: 'It is noon.' });
    model.onMessage('time?', { toolCalls: [{ id: 'call_a', name: 'clock', arguments: '{}' }] });
    const { body } = await gateway.a.post<{ session_id: string }>('/sessions', {});
    const caller = { traceparent: `00-${TRACE}-${CALLER}-01` };
    const path = `/sessions/${body.session_id}/messages`;
    expect((await gateway.a.post(path, { content: 'time?' }, caller)).status).toBe(200);
    await eventually(() => expect(named(MESSAGES)).toHaveLength(1));
    const [request] = named(MESSAGES);
    expect(placed(request)).toEqual({ traceId: TRACE, parent: CALLER });
    expect(request?.attributes).toMatchObject({ 'http.response.status_code': 200, 'gateway.profile': 'a' });
    const [turn] = named('invoke_agent default');
    expect(placed(turn)).toEqual({ traceId: TRACE, parent: request?.spanContext().spanId });
    const chats = named('chat a-model').map(({ attributes }) => attributes);
    const sumOf = (name: string) => chats.reduce((sum, one) => sum + Number(one[name]), 0);
    expect(sumOf('gen_ai.usage.input_tokens')).toBeGreaterThan(0);
    expect(turn?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'default',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'a-model',
      'gen_ai.conversation.id': body.session_id,
      'gen_ai.usage.input_tokens': sumOf('gen_ai.usage.input_tokens'),
      'gen_ai.usage.output_tokens': sumOf('gen_ai.usage.output_tokens'),
      'session.id': body.session_id,
    });
    const within = { traceId: TRACE, parent: turn?.spanContext().spanId };
    expect(named('chat a-model').map(placed)).toEqual([within, within]);
    const reasons = named('chat a-model').map(
      ({ attributes }) => attributes['gen_ai.response.finish_reasons'],
    );
    expect(reasons).toEqual([['tool_calls'], ['stop']]);
    expect(named('execute_tool clock').map(placed)).toEqual([within]);
    const [chat] = named('chat a-model');
    expect([chat?.kind, request?.kind, turn?.kind]).toEqual([
      SpanKind.CLIENT,
      SpanKind.SERVER,
      SpanKind.INTERNAL,
    ]);
    expect(chat?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'a-model',
      'gen_ai.conversation.id': body.session_id,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(model.url).port),
    });
    expect(named('execute_tool clock')[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'clock',
      'gen_ai.tool.call.id': 'call_a',
      'gen_ai.tool.type': 'function',
      'gateway.tool.status': 'success',
    });
    expect(request?.attributes).toMatchObject({
      'http.route': '/api/v1/sessions/:id/messages',
      'url.scheme': 'http',
      'url.path': `/api/v1${path}`,
    });
    const [first] = model.getRequests() as unknown as { headers: Record<string, string> }[];
    expect(first?.headers['traceparent']).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  });

  test('what fails has its error.type, and a path that no route takes has no http.route', async () => {
    model.onMessage('broken', { error: { message: 'no', type: 'server_error' }, status: 400 });
    const { body } = await gateway.a.post<{ session_id: string }>('/sessions', {});
    exporter.reset();
    expect(
      (await gateway.a.post(`/sessions/${body.session_id}/messages`, { content: 'broken' })).status,
    ).toBe(502);
    await eventually(() => expect(named(MESSAGES)).toHaveLength(1));
    expect(named(MESSAGES)[0]?.attributes['error.type']).toBe('502');
    for (const name of ['chat a-model', 'invoke_agent default'])
      expect(named(name)[0]?.attributes['error.type']).toBe('provider_rejected_request');
    await gateway.a.get('/nowhere');
    await eventually(() => expect(named('GET')).toHaveLength(1));
    expect(named('GET')[0]?.attributes['http.route']).toBeUndefined();
  });

  test('of a chain of models the span of each says who failed and why, and who answered', async () => {
    model.onMessage('overloaded', { error: { message: 'no', type: 'server_error' }, status: 503 });
    const { body } = await gateway.a.post<{ session_id: string }>('/sessions', { agent: 'duo' });
    exporter.reset();
    const answer = await gateway.a.post(`/sessions/${body.session_id}/messages`, { content: 'overloaded' });
    expect(answer.status).toBe(200);
    await eventually(() => expect(named('invoke_agent duo')).toHaveLength(1));
    const [failed, answered] = [named('chat a-model'), named('chat offline')];
    expect([failed.length, answered.length]).toEqual([1, 1]);
    expect(failed[0]?.attributes['error.type']).toBe('provider_overloaded');
    expect(answered[0]?.attributes['error.type']).toBeUndefined();
    expect(named('invoke_agent duo')[0]?.attributes['error.type']).toBeUndefined();
    expect(placed(answered[0])).toEqual(placed(failed[0]));
  });

  test('a request without a trace begins one, named by its template; neither content nor secrets are in it', async () => {
    await gateway.b.get('/sessions/sess_unknown');
    await eventually(() => expect(named('GET /api/v1/sessions/:id')).toHaveLength(1));
    const [span] = named('GET /api/v1/sessions/:id');
    expect(placed(span).traceId).not.toBe(TRACE);
    expect(span?.attributes).toMatchObject({ 'http.response.status_code': 404 });
    const shown = exporter
      .getFinishedSpans()
      .map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    for (const hidden of [gateway.token, 'key-of-nobody-1234', 'time?', 'It is noon.']) {
      expect(JSON.stringify(shown)).not.toContain(hidden);
    }
  });

  test('with tracing.include_content the spans hold what was said, without secrets and cut', async () => {
    exporter.reset();
    model.onToolResult('call_b', { content: 'It is noon there.' });
    model.onMessage('hour?', { toolCalls: [{ id: 'call_b', name: 'clock', arguments: '{"zone":"Bern"}' }] });
    model.onMessage('and so on', { content: 'Well.' });
    model.onMessage('unseen?', { content: 'Nothing.' });
    const on = (isOn: boolean) => gateway.b.patch('/config', { 'tracing.include_content': isOn });
    expect((await on(true)).status).toBe(200);
    const { body } = await gateway.a.post<{ session_id: string }>('/sessions', {
      system_prompt: 'Be precise.',
    });
    const path = `/sessions/${body.session_id}/messages`;
    const long = 'and so on '.repeat(20_000);
    expect((await gateway.a.post(path, { content: `key-of-nobody-1234 ${long}` })).status).toBe(200);
    expect((await gateway.a.post(path, { content: 'hour?' })).status).toBe(200);
    await on(false);
    expect((await gateway.a.post(path, { content: 'unseen?' })).status).toBe(200);
    const attributes = exporter.getFinishedSpans().map((span) => span.attributes);
    expect(JSON.stringify(attributes)).not.toContain('key-of-nobody-1234');
    const [tool] = named('execute_tool clock').map((span) => span.attributes);
    expect(tool).toMatchObject({
      'gen_ai.tool.call.arguments': '{"zone":"Bern"}',
      'gen_ai.tool.call.result': 'noon',
    });
    const chats = named('chat a-model').map((span) => span.attributes);
    const parsed = (name: string, index: number): unknown => JSON.parse(String(chats.at(index)?.[name]));
    expect(chats.at(-1)).not.toHaveProperty('gen_ai.input.messages');
    expect(parsed('gen_ai.output.messages', -2)).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'text', content: 'It is noon there.' }],
        finish_reason: 'stop',
      },
    ]);
    expect(parsed('gen_ai.input.messages', -2)).toEqual(
      expect.arrayContaining([
        { role: 'user', parts: [{ type: 'text', content: 'hour?' }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_b', response: 'noon' }] },
      ]),
    );
    expect(parsed('gen_ai.system_instructions', -2)).toEqual([
      { type: 'text', content: expect.any(String) as unknown },
    ]);
    for (const one of chats) expect(String(one['gen_ai.input.messages'] ?? '').length).toBeLessThan(40_000);
  });
});

interface Received {
  readonly path: string;
  readonly text: string;
}

/** What a gateway with these settings sends to a collector, from its start to its end. */
async function collected(env: Readonly<Record<string, string>>): Promise<readonly Received[]> {
  const received: Received[] = [];
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', text: Buffer.concat(chunks).toString('utf8') });
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const bench = new ProcessBench();
  const gateway = await bench.serve({
    env: {
      GATEWAY_DATA_DIR: join(await bench.folder(), 'data'),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      ...env,
    },
  });
  await new HttpCaller(gateway.a, gateway.token).post('/sessions', {});
  gateway.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);
  await bench.clear();
  await new Promise((resolve) => collector.close(resolve));
  return received;
}

test('metrics and logs go to the collector when they are asked for, redacted as everywhere', async () => {
  const received = await collected({
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_METRIC_EXPORT_INTERVAL: '60000',
    ANTHROPIC_API_KEY: 'canary-key-of-a-provider',
    GATEWAY__PROVIDER__KIND: 'offline',
  });
  expect([...new Set(received.map(({ path }) => path))].sort()).toEqual(['/v1/logs', '/v1/metrics']);
  const textOf = (path: string) =>
    received
      .filter((one) => one.path === path)
      .map(({ text }) => text)
      .join();
  expect(textOf('/v1/metrics')).toMatch(/"name":"agent_gateway_requests_total".{0,300}"isMonotonic":true/);
  expect(textOf('/v1/metrics')).toMatch(
    /"name":"agent_gateway_request_duration_seconds".{0,600}"bucketCounts":/,
  );
  expect(textOf('/v1/logs')).toContain('the gateway has stopped');
  expect(textOf('/v1/logs')).toContain('"severityText":"info"');
  expect(received.map(({ text }) => text).join()).not.toContain('canary-key');
}, 60_000);

test('OTEL_EXPORTER_OTLP_ENDPOINT names a collector, which gets the spans by OTLP; the last of them at the stop', async () => {
  const received = await collected({ OTEL_BSP_SCHEDULE_DELAY: '60000' });
  expect(received.map(({ path }) => path)).toEqual(['/v1/traces']);
  for (const word of ['POST /api/v1/sessions', 'agent-gateway', 'service.instance.id']) {
    expect(received[0]?.text).toContain(word);
  }
}, 60_000);
