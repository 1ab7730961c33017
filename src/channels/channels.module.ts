import { Module } from '@nestjs/common';
import { ChannelDirectory } from './channel-directory.js';

@Module({ providers: [ChannelDirectory], exports: [ChannelDirectory] })
export class ChannelsModule {}
