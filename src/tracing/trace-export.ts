import { setExporting } from './spans.js';

/** Ends the export: what is left is sent within its time. */
export type StopTracing = () => Promise<void>;

const STOP_MS = 3000;

export interface TraceIdentity {
  readonly version: string;
  readonly replicaId: string;
}

/**
 * Sends spans by OTLP over HTTP to the collector that the standard variables name (`OTEL_EXPORTER_OTLP_ENDPOINT` or
 * `…_TRACES_ENDPOINT`, and the other `OTEL_` ones for headers, sampling and limits). Nothing is loaded and nothing is
 * measured without them.
 */
export async function startTraceExport(wanted: boolean, identity: TraceIdentity): Promise<StopTracing> {
  if (!wanted) return () => Promise.resolve();
  const [{ OTLPTraceExporter }, sdk, resources] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/resources'),
  ]);
  const own = resources.resourceFromAttributes({
    'service.name': 'agent-gateway',
    'service.version': identity.version,
    'service.instance.id': identity.replicaId,
  });
  const named = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.NodeTracerProvider({
    resource: own.merge(named),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  setExporting(true);
  return async () => {
    setExporting(false);
    const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
    await Promise.race([provider.shutdown().catch(() => undefined), late]);
  };
}
