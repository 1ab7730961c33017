import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ChannelStatus } from '../channel.port.js';
import type { ChannelHealth, ChannelReport } from '../channel-reports.service.js';

const STATUS_LABELS = ['connected', 'disconnected', 'reconnecting'];

export class RestartedChannelViewB {
  @ApiProperty({ example: 'api' })
  name!: string;

  @ApiProperty({ enum: STATUS_LABELS })
  status!: ChannelStatus;
}

export class ChannelItemViewB extends RestartedChannelViewB {
  @ApiPropertyOptional({ format: 'date-time', description: 'Present when connected' })
  connected_at?: string;

  @ApiProperty({ type: 'integer' })
  active_sessions!: number;

  @ApiPropertyOptional({ description: 'Present when disconnected' })
  error?: string;
}

export class ChannelListViewB {
  @ApiProperty({ type: [ChannelItemViewB] })
  channels!: ChannelItemViewB[];
}

export class ChannelHealthViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  healthy!: boolean;

  @ApiProperty({ type: 'integer' })
  latency_ms!: number;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  last_message_at!: string | null;
}

export function presentChannelListB(reports: readonly ChannelReport[]): ChannelListViewB {
  return {
    channels: reports.map(({ name, status, connectedAt, error, activeSessions }) => ({
      name,
      status,
      ...(connectedAt === undefined ? {} : { connected_at: connectedAt.toISOString() }),
      active_sessions: activeSessions,
      ...(error === undefined ? {} : { error }),
    })),
  };
}

export function presentChannelHealthB(health: ChannelHealth): ChannelHealthViewB {
  return {
    name: health.name,
    healthy: health.ok,
    latency_ms: health.latencyMs,
    last_message_at: health.lastMessageAt?.toISOString() ?? null,
  };
}
