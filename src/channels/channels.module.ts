import { Module } from '@nestjs/common';
import { ApiChannel } from './api-channel.js';
import { ChannelActivity } from './channel-activity.js';
import { ChannelDirectory } from './channel-directory.js';

/** Which channels there are, and when they were last used. */
@Module({
  providers: [ApiChannel, ChannelDirectory, ChannelActivity],
  exports: [ChannelDirectory, ChannelActivity],
})
export class ChannelsModule {}
