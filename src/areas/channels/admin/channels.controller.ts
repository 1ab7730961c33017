import { Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import type { Page } from '../../../http/paging/keyset-list.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { Count, isoOrNull, MomentOrNull, NextCursor, TextOrNull } from '../../../http/paging/page-view.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { CHANNEL_STATUSES, type ChannelStatus } from '../channel.port.js';
import { type ChannelDescription, ChannelReports } from '../channel-reports.service.js';

class ChannelStateView {
  @ApiProperty({ example: 'api' })
  name!: string;

  @ApiProperty({ enum: [...CHANNEL_STATUSES] })
  status!: ChannelStatus;
}

class AdminChannelView extends ChannelStateView {
  @ApiProperty({ description: '`api` for the one that is built in', example: 'telegram' })
  type!: string;

  @ApiProperty()
  enabled!: boolean;

  @MomentOrNull()
  connected_at!: string | null;

  @TextOrNull('Why it is not connected')
  error!: string | null;

  @Count('Live sessions')
  active_sessions!: number;
}

class AdminChannelPageView {
  @ApiProperty({ type: [AdminChannelView], description: 'By name' })
  items!: AdminChannelView[];

  @NextCursor()
  next_cursor!: string | null;
}

function presentChannelPage({ items, nextCursor }: Page<ChannelDescription>): AdminChannelPageView {
  return {
    items: items.map(({ name, status, type, enabled, connectedAt, error, activeSessions }) => ({
      name,
      status,
      type,
      enabled,
      connected_at: isoOrNull(connectedAt),
      error: error ?? null,
      active_sessions: activeSessions,
    })),
    next_cursor: nextCursor,
  };
}

/** Channels (docs/specification/additions.md, Operators' API). */
@AdminController('channels')
export class AdminChannelsController {
  constructor(private readonly channels: ChannelReports) {}

  @Get()
  @Does('List channels', 'By name, the same on every replica.')
  @AdminScope('channels:read')
  @Answers(200, 'A page of channels, by name', AdminChannelPageView)
  async list(@Query() query: PageQuery, @CurrentCaller() caller: Caller): Promise<AdminChannelPageView> {
    refuseSomeAgents('channels are those', caller);
    return presentChannelPage(await this.channels.page(query));
  }

  @Post(':name/restart')
  @Does('Restart a channel', 'Answers at once, while the channel reconnects.')
  @HttpCode(200)
  @AdminScope('channels:write')
  @Answers(200, 'The channel is reconnecting', ChannelStateView)
  async restart(@Param('name') name: string, @CurrentCaller() caller: Caller): Promise<ChannelStateView> {
    refuseSomeAgents('channels are those', caller);
    return this.channels.restart(name);
  }
}
