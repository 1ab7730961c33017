import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ChannelProbe, ChannelStatus } from '../channel.port.js';
import type { ChannelReport } from '../channel-reports.service.js';

export class ChannelItemViewA {
  @ApiProperty({ example: 'api' })
  name!: string;

  @ApiProperty()
  enabled!: boolean;

  @ApiProperty({ enum: ['connected', 'disconnected', 'reconnecting'] })
  status!: ChannelStatus;

  @ApiProperty({ type: 'integer' })
  active_sessions!: number;
}

export class ChannelListViewA {
  @ApiProperty({ type: [ChannelItemViewA] })
  channels!: ChannelItemViewA[];
}

export class ChannelTestViewA {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  success!: boolean;

  @ApiProperty({ type: 'integer' })
  latency_ms!: number;

  @ApiPropertyOptional()
  error?: string;
}

export function presentChannelListA(reports: readonly ChannelReport[]): ChannelListViewA {
  return {
    channels: reports.map(({ name, enabled, status, activeSessions }) => ({
      name,
      enabled,
      status,
      active_sessions: activeSessions,
    })),
  };
}

export function presentChannelTestA(test: { name: string } & ChannelProbe): ChannelTestViewA {
  const { name, ok, latencyMs, error } = test;
  return { name, success: ok, latency_ms: latencyMs, ...(error === undefined ? {} : { error }) };
}
