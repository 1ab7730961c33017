import { Module } from '@nestjs/common';
import { ChannelActivity } from './channel-activity.js';
import { ChannelDirectory } from './channel-directory.js';

/** Which channels exist and when they were last used. Sessions need this much, and no more. */
@Module({
  providers: [ChannelDirectory, ChannelActivity],
  exports: [ChannelDirectory, ChannelActivity],
})
export class ChannelsModule {}
