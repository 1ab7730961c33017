import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** The API alone: while nobody exports, spans are made by nobody and cost a look. */
const tracer = () => trace.getTracer('agent-gateway');

let exporting = false;

/** Said once, by whoever starts the export. */
export function setExporting(on: boolean): void {
  exporting = on;
}

export function isTracing(): boolean {
  return exporting;
}

/** A request that was taken: its span, within which everything runs that it causes. */
export interface RequestSpan {
  run<Result>(work: () => Result): Result;
  end(facts: { readonly name: string; readonly status: number; readonly attributes: Attributes }): void;
}

const UNTRACED: RequestSpan = { run: (work) => work(), end: () => undefined };

/** Goes on with the trace of whoever asks (`traceparent`), or begins one. */
export function beginRequest(headers: Readonly<Record<string, unknown>>, method: string): RequestSpan {
  if (!exporting) return UNTRACED;
  const caller = propagation.extract(context.active(), headers);
  const span = tracer().startSpan(method, { kind: SpanKind.SERVER }, caller);
  return {
    run: (work) => context.with(trace.setSpan(caller, span), work),
    end: ({ name, status, attributes }) => {
      span.updateName(name);
      span.setAttributes(attributes);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Runs `work` within a span that ends with it; what it throws is the span's error. `work` may add to the span. */
export async function inSpan<Result>(
  name: string,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  if (!exporting) return work(undefined);
  return tracer().startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The headers that let whoever is called go on with the trace of this moment. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (exporting) propagation.inject(context.active(), headers);
  return headers;
}
