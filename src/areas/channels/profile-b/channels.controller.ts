import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { ChannelReports } from '../channel-reports.service.js';
import {
  ChannelHealthViewB,
  ChannelListViewB,
  presentChannelHealthB,
  presentChannelListB,
  RestartedChannelViewB,
} from './channels.views.js';

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
