import { type HrTime, metrics, ValueType } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { register } from 'prom-client';

const EXPORT_TIMEOUT_MS = 30_000;

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

/** Sends the metrics of `/metrics` on the interval of `OTEL_METRIC_EXPORT_INTERVAL` (a minute). */
export function exportMetrics(resource: Resource, intervalMs: number | undefined): MeterProvider {
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    ...(intervalMs === undefined
      ? {}
      : { exportIntervalMillis: intervalMs, exportTimeoutMillis: Math.min(intervalMs, EXPORT_TIMEOUT_MS) }),
    metricProducers: [new PrometheusProducer(resource)],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  // For what follows OpenTelemetry's own conventions, under names that /metrics cannot have.
  metrics.setGlobalMeterProvider(provider);
  return provider;
}

/** Gives prom-client's metrics to the exporter, so that both outputs show the same values under the same names. */
class PrometheusProducer implements MetricProducer {
  private readonly startTime = hrTimeOf(Date.now());

  constructor(private readonly resource: Resource) {}

  async collect(): Promise<CollectionResult> {
    const endTime = hrTimeOf(Date.now());
    const families = (await register.getMetricsAsJSON()) as unknown as readonly Family[];
    const converted = families.flatMap((family) => metricOf(family, { startTime: this.startTime, endTime }));
    const scope = { name: 'agent-gateway' };
    return {
      resourceMetrics: { resource: this.resource, scopeMetrics: [{ scope, metrics: converted }] },
      errors: [],
    };
  }
}

interface Period {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

function metricOf({ name, help, type, values }: Family, period: Period): MetricData[] {
  const descriptor = { name, description: help, unit: '', valueType: ValueType.DOUBLE };
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  const dataPoints = values.map(({ value, labels }) => ({ ...period, attributes: { ...labels }, value }));
  switch (type) {
    case 'counter':
      return [
        {
          descriptor,
          aggregationTemporality,
          dataPointType: DataPointType.SUM,
          isMonotonic: true,
          dataPoints,
        },
      ];
    case 'gauge':
      return [{ descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints }];
    case 'histogram':
      return [
        {
          descriptor,
          aggregationTemporality,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: histograms(name, values).map((one) => ({ ...period, ...one })),
        },
      ];
    default:
      return [];
  }
}

/** One point for each set of labels: prom-client has a sample for each bucket, which includes all smaller ones. */
function histograms(name: string, samples: readonly Sample[]) {
  const points = new Map<
    string,
    { attributes: Record<string, string | number>; upTo: [number, number][]; sum: number; count: number }
  >();
  for (const { value, labels, metricName } of samples) {
    const { le, ...attributes } = labels;
    const key = JSON.stringify(attributes);
    const point = points.get(key) ?? { attributes, upTo: [], sum: 0, count: 0 };
    points.set(key, point);
    if (metricName === `${name}_sum`) point.sum = value;
    else if (metricName === `${name}_count`) point.count = value;
    else if (le !== undefined)
      point.upTo.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value]);
  }
  return [...points.values()].map(({ attributes, upTo, sum, count }) => {
    upTo.sort(([one], [other]) => one - other);
    const boundaries = upTo.map(([bound]) => bound).filter(Number.isFinite);
    const counts = upTo.map(([, total], index) => total - (upTo[index - 1]?.[1] ?? 0));
    return { attributes, value: { buckets: { boundaries, counts }, sum, count } };
  });
}

function hrTimeOf(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6];
}
