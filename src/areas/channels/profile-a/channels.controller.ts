import { Get, HttpCode, Param, Post } from '@nestjs/common';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { ChannelReports } from '../channel-reports.service.js';
import {
  ChannelListViewA,
  ChannelTestViewA,
  presentChannelListA,
  presentChannelTestA,
} from './channels.views.js';

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
