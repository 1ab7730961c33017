import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** Uses only OpenTelemetry's API: unless spans are exported, none are made, and each costs one check. */
const tracer = () => trace.getTracer('agent-gateway');

let exporting = false;

/** Called once, when the export starts. */
export function setExporting(on: boolean): void {
  exporting = on;
}

export function isTracing(): boolean {
  return exporting;
}

/** The span of one request; everything that the request causes runs within it. */
export interface RequestSpan {
  run<Result>(work: () => Result): Result;
  end(facts: { readonly name: string; readonly status: number; readonly attributes: Attributes }): void;
}

const UNTRACED: RequestSpan = { run: (work) => work(), end: () => undefined };

/** Continues the caller's trace (`traceparent`), or starts a new one. */
export function startRequest(headers: Readonly<Record<string, unknown>>, method: string): RequestSpan {
  if (!exporting) return UNTRACED;
  const caller = propagation.extract(context.active(), headers);
  const span = tracer().startSpan(method, { kind: SpanKind.SERVER }, caller);
  return {
    run: (work) => context.with(trace.setSpan(caller, span), work),
    end: ({ name, status, attributes }) => {
      span.updateName(name);
      span.setAttributes(attributes);
      if (status >= 500) {
        span.setAttribute('error.type', String(status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** The name of a span, and what is known before its work starts. */
export interface SpanStart {
  readonly name: string;
  /** Called only when there is a span. */
  readonly attributes: () => Attributes;
  /** Whether the work is a call to another service, rather than the gateway's own. */
  readonly isCall?: boolean;
}

/** Runs `work` within a span that ends with it; what it throws is the span's error. `work` may add to the span. */
export function inSpan<Result>(
  { name, attributes, isCall = false }: SpanStart,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  if (!exporting) return work(undefined);
  const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
  return tracer().startActiveSpan(name, { attributes: attributes(), kind }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setAttribute('error.type', errorType(error));
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The headers with which the called service continues the current trace. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (exporting) propagation.inject(context.active(), headers);
  return headers;
}

/**
 * A word with few values, as OpenTelemetry's conventions ask: the reason that callers are told, otherwise the class of
 * the error.
 */
/** `error.type` of what was thrown. */
export function errorType(error: unknown): string {
  if (error instanceof GatewayError) return error.details?.reason ?? error.name;
  return error instanceof Error ? error.name : 'error';
}
