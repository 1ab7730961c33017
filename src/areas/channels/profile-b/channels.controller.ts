import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { ChannelStatus } from '../channel.port.js';
import { type ChannelHealth, type ChannelReport, ChannelReports } from '../channel-reports.service.js';

const STATUS_LABELS = ['connected', 'disconnected', 'reconnecting'];

class RestartedChannelViewB {
  @ApiProperty({ example: 'api' })
  name!: string;

  @ApiProperty({ enum: STATUS_LABELS })
  status!: ChannelStatus;
}

class ChannelItemViewB extends RestartedChannelViewB {
  @ApiPropertyOptional({ format: 'date-time', description: 'Present when connected' })
  connected_at?: string;

  @ApiProperty({ type: 'integer' })
  active_sessions!: number;

  @ApiPropertyOptional({ description: 'Present when disconnected' })
  error?: string;
}

class ChannelListViewB {
  @ApiProperty({ type: [ChannelItemViewB] })
  channels!: ChannelItemViewB[];
}

class ChannelHealthViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  healthy!: boolean;

  @ApiProperty({ type: 'integer' })
  latency_ms!: number;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  last_message_at!: string | null;
}

function presentChannelListB(reports: readonly ChannelReport[]): ChannelListViewB {
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

function presentChannelHealthB(health: ChannelHealth): ChannelHealthViewB {
  return {
    name: health.name,
    healthy: health.ok,
    latency_ms: health.latencyMs,
    last_message_at: health.lastMessageAt?.toISOString() ?? null,
  };
}

/** Channels in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('channels')
export class ChannelsControllerB {
  constructor(private readonly channels: ChannelReports) {}

  @Get()
  @Does('List channels')
  @RequireScope('channels:read')
  @Answers(200, 'All channels', ChannelListViewB)
  async list(): Promise<ChannelListViewB> {
    return presentChannelListB(await this.channels.list('active'));
  }

  @Post(':name/restart')
  @Does('Restart a channel', 'Responds at once, while the channel reconnects.')
  @HttpCode(200)
  @RequireScope('channels:write')
  @Answers(200, 'The channel is reconnecting', RestartedChannelViewB)
  async restart(
    @CurrentCaller() caller: Caller,
    @Param('name') name: string,
  ): Promise<RestartedChannelViewB> {
    refuseSomeAgents('channels are those', caller);
    return this.channels.restart(name);
  }

  @Get(':name/health')
  @Does('Check a channel', 'Makes a round trip to the platform, within 10 s.')
  @RequireScope('channels:read')
  @Answers(200, 'Outcome of the round trip', ChannelHealthViewB)
  async health(@Param('name') name: string): Promise<ChannelHealthViewB> {
    return presentChannelHealthB(await this.channels.health(name));
  }
}
