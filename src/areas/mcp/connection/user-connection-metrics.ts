import { Injectable } from '@nestjs/common';
import { InjectMetric, makeCounterProvider, makeHistogramProvider } from '@willsoto/nestjs-prometheus';
import type { Counter, Histogram } from 'prom-client';

/** Why a connection of a user was closed. */
export type CloseReason = 'idle' | 'evicted' | 'lost' | 'stopped';

const OPENING = 'agent_gateway_mcp_user_connection_open_seconds';
const CLOSED = 'agent_gateway_mcp_user_connections_closed_total';

export const userConnectionMetricProviders = [
  makeHistogramProvider({
    name: OPENING,
    help: 'Time until the connection of a user to an MCP server was open, with the start of its process.',
    labelNames: ['server'],
    buckets: [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
  makeCounterProvider({
    name: CLOSED,
    help: 'Connections of users to MCP servers that ended, by reason: idle, evicted, lost, failed (never open) or stopped.',
    labelNames: ['server', 'reason'],
  }),
];

/** Records what happens to the connections of one server's users. */
export interface UserConnectionNotes {
  /** @param openedInMs undefined when it could not be opened */
  ended(openedInMs: number | undefined, reason: CloseReason): void;
  opened(tookMs: number): void;
}

@Injectable()
export class UserConnectionMetrics {
  constructor(
    @InjectMetric(OPENING) private readonly opening: Histogram<'server'>,
    @InjectMetric(CLOSED) private readonly closed: Counter<'server' | 'reason'>,
  ) {}

  of(server: string): UserConnectionNotes {
    return {
      opened: (tookMs) => this.opening.observe({ server }, tookMs / 1000),
      ended: (openedInMs, reason) => {
        const isFailure = reason === 'lost' && openedInMs === undefined;
        this.closed.inc({ server, reason: isFailure ? 'failed' : reason });
      },
    };
  }
}
