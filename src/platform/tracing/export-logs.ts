import { type LogAttributes, SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import type { Logs } from '../logging/logger.js';

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

/** Sends every line as it is written. When the batch processor's queue is full, new lines are dropped. */
export function exportLogs(resource: Resource, logs: Logs): LoggerProvider {
  const provider = new LoggerProvider({
    resource,
    processors: [new BatchLogRecordProcessor(new OTLPLogExporter())],
  });
  const logger = provider.getLogger('agent-gateway');
  logs.copyTo((line) => {
    const { timestamp, level, message, ...attributes } = JSON.parse(line) as Record<string, unknown>;
    logger.emit({
      timestamp: new Date(String(timestamp)),
      severityNumber: SEVERITIES[String(level)] ?? SeverityNumber.UNSPECIFIED,
      severityText: String(level),
      body: String(message),
      attributes: attributes as LogAttributes,
    });
  });
  return provider;
}
