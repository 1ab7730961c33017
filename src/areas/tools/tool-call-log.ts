import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider, makeHistogramProvider } from '@willsoto/nestjs-prometheus';
import type { Counter, Histogram } from 'prom-client';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import type { ToolCallRecord } from './tool-call.js';
import { ToolCatalog, type ToolContext } from './tool-catalog.port.js';

const CALLS = 'agent_gateway_tool_calls_total';
const DURATION = 'agent_gateway_tool_call_duration_seconds';

export const toolMetricProviders = [
  makeCounterProvider({
    name: CALLS,
    help: 'Tool calls by the source of the tool and by outcome.',
    labelNames: ['source', 'status'],
  }),
  makeHistogramProvider({
    name: DURATION,
    help: 'Duration of tool calls that ran, without the wait for an approval.',
    labelNames: ['source'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
];

/** Records every tool call, also refused ones, in the audit and in the metrics. */
@Injectable()
export class ToolCallLog {
  constructor(
    private readonly audit: AuditLog,
    private readonly catalog: ToolCatalog,
    @InjectMetric(CALLS) private readonly calls: Counter<'source' | 'status'>,
    @InjectMetric(DURATION) private readonly duration: Histogram<'source'>,
  ) {}

  async note(record: ToolCallRecord, { sessionId, channel, userId, token }: ToolContext): Promise<void> {
    const { id, name, status, durationMs } = record;
    // Sources are few; the names that models make up are not.
    const source = this.catalog.sourceOf(name) ?? 'unknown';
    this.calls.inc({ source, status });
    if (status !== 'denied') this.duration.observe({ source }, durationMs / 1000);
    await this.audit.record({
      action: 'tool.called',
      actor: userId,
      target: name,
      outcome: status,
      sessionId,
      details: {
        ...{ call_id: id, channel, source, duration_ms: durationMs },
        ...(token === undefined ? {} : { token: token.name, token_id: token.id }),
      },
    });
  }
}
