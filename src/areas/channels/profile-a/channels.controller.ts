import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { ChannelProbe, ChannelStatus } from '../channel.port.js';
import { type ChannelReport, ChannelReports } from '../channel-reports.service.js';

class ChannelItemViewA {
  @ApiProperty({ example: 'api' })
  name!: string;

  @ApiProperty()
  enabled!: boolean;

  @ApiProperty({ enum: ['connected', 'disconnected', 'reconnecting'] })
  status!: ChannelStatus;

  @ApiProperty({ type: 'integer' })
  active_sessions!: number;
}

class ChannelListViewA {
  @ApiProperty({ type: [ChannelItemViewA] })
  channels!: ChannelItemViewA[];
}

class ChannelTestViewA {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  success!: boolean;

  @ApiProperty({ type: 'integer' })
  latency_ms!: number;

  @ApiPropertyOptional()
  error?: string;
}

function presentChannelListA(reports: readonly ChannelReport[]): ChannelListViewA {
  return {
    channels: reports.map(({ name, enabled, status, activeSessions }) => ({
      name,
      enabled,
      status,
      active_sessions: activeSessions,
    })),
  };
}

function presentChannelTestA(test: { name: string } & ChannelProbe): ChannelTestViewA {
  const { name, ok, latencyMs, error } = test;
  return { name, success: ok, latency_ms: latencyMs, ...(error === undefined ? {} : { error }) };
}

/** Channels in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('channels')
export class ChannelsControllerA {
  constructor(private readonly channels: ChannelReports) {}

  @Get()
  @Does('List channels')
  @RequireScope('channels:read')
  @Answers(200, 'All channels', ChannelListViewA)
  async list(): Promise<ChannelListViewA> {
    return presentChannelListA(await this.channels.list('live'));
  }

  @Post(':name/test')
  @Does(
    'Test a channel',
    'Makes a round trip to the platform, within 10 s. A failure is a 200 with `success: false`.',
  )
  @HttpCode(200)
  @RequireScope('channels:write')
  @Answers(200, 'Outcome of the round trip; a failed one is not an error', ChannelTestViewA)
  async test(@CurrentCaller() caller: Caller, @Param('name') name: string): Promise<ChannelTestViewA> {
    refuseSomeAgents('channels are those', caller);
    return presentChannelTestA(await this.channels.test(name));
  }
}
