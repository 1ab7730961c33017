import { SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { inSpan, setExporting, startRequest, traceHeaders } from './spans.js';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => provider.register());
beforeEach(() => {
  exporter.reset();
  setExporting(true);
});
afterAll(async () => {
  setExporting(false);
  await provider.shutdown();
});

test('a request that is answered with 5xx is an error; any other is not', () => {
  for (const status of [200, 499, 500])
    startRequest({}, 'GET').end({ name: `GET ${status}`, status, attributes: { status } });
  const found = exporter
    .getFinishedSpans()
    .map(({ name, status, attributes }) => [name, status.code, attributes['error.type']]);
  expect(found).toEqual([
    ['GET 200', SpanStatusCode.UNSET, undefined],
    ['GET 499', SpanStatusCode.UNSET, undefined],
    ['GET 500', SpanStatusCode.ERROR, '500'],
  ]);
});

test.each([
  [new RangeError('a secret in it'), 'RangeError'],
  ['a secret in it', 'error'],
])(
  'work that fails marks its span as an error without its message, and still fails (%s)',
  async (failure, message) => {
    await expect(
      inSpan({ name: 'work', attributes: () => ({}) }, () => Promise.reject(failure as Error)),
    ).rejects.toBe(failure);
    const [span] = exporter.getFinishedSpans();
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message });
    expect(span?.attributes['error.type']).toBe(message);
  },
);

test('without a collector there are no spans and no headers', async () => {
  setExporting(false);
  startRequest({}, 'GET').run(() => undefined);
  startRequest({}, 'GET').end({ name: 'GET', status: 500, attributes: {} });
  expect(await inSpan({ name: 'work', attributes: () => ({}) }, async (span) => span)).toBeUndefined();
  expect([exporter.getFinishedSpans(), traceHeaders()]).toEqual([[], {}]);
});
