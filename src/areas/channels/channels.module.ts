import { Module } from '@nestjs/common';
import { ChannelActivity } from './channel-activity.js';
import { ChannelDirectory } from './channel-directory.js';

/** Which channels there are, and when they were last used; for sessions, which are on them. */
@Module({
  providers: [ChannelDirectory, ChannelActivity],
  exports: [ChannelDirectory, ChannelActivity],
})
export class ChannelsModule {}
