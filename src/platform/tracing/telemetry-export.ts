import type { Resource } from '@opentelemetry/resources';
import type { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Logs } from '../logging/logger.js';
import { withDeadline } from '../runtime/with-deadline.js';
import { setExporting } from './spans.js';

/** Ends the export; what is left is sent within its time limit. */
export type StopTelemetry = () => Promise<void>;

/** Which signals go to a collector (`Environment.telemetry`). */
export interface TelemetrySignals {
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly logs: boolean;
  /** Time between two exports of metrics, in milliseconds; undefined means the SDK's minute. */
  readonly metricIntervalMs: number | undefined;
}

export interface TelemetryIdentity {
  readonly version: string;
  readonly replicaId: string;
}

const STOP_MS = 3000;

/**
 * Sends what is asked for by OTLP over HTTP to the collector that OpenTelemetry's variables name
 * (`OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_<SIGNAL>_ENDPOINT`, and the others for headers, sampling,
 * intervals and limits): spans; with `OTEL_METRICS_EXPORTER=otlp` the metrics of `/metrics`; with
 * `OTEL_LOGS_EXPORTER=otlp` the log lines, redacted as on standard output. Nothing is loaded or measured for a signal
 * that is not asked for.
 */
export async function startTelemetryExport(
  signals: TelemetrySignals,
  identity: TelemetryIdentity,
  logs: Logs,
): Promise<StopTelemetry> {
  if (!signals.traces && !signals.metrics && !signals.logs) return () => Promise.resolve();
  const resource = await resourceOf(identity);
  const parts: { shutdown(): Promise<void> }[] = [];
  if (signals.traces) parts.push(await exportSpans(resource));
  if (signals.metrics) {
    const { exportMetrics } = await import('./export-metrics.js');
    parts.push(exportMetrics(resource, signals.metricIntervalMs));
  }
  if (signals.logs) parts.push((await import('./export-logs.js')).exportLogs(resource, logs));
  setExporting(signals.traces);
  return async () => {
    setExporting(false);
    const stopped = parts.map((part) => part.shutdown().catch(() => undefined));
    await withDeadline(Promise.all(stopped), STOP_MS, () => []);
  };
}

async function resourceOf({ version, replicaId }: TelemetryIdentity) {
  const resources = await import('@opentelemetry/resources');
  const own = resources.resourceFromAttributes({
    'service.name': 'agent-gateway',
    'service.version': version,
    'service.instance.id': replicaId,
  });
  return own.merge(resources.detectResources({ detectors: [resources.envDetector] }));
}

/** @returns the provider, which is registered for the whole process */
async function exportSpans(resource: Resource): Promise<NodeTracerProvider> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return provider;
}
