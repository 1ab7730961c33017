import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ChannelReports } from './channel-reports.service.js';
import { ChannelsModule } from './channels.module.js';

/** Channels as callers see them: with the sessions that are on them. */
@Module({ imports: [ChannelsModule, SessionsModule], providers: [ChannelReports], exports: [ChannelReports] })
export class ChannelReportsModule {}
