import { Body, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiProperty } from '@nestjs/swagger';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { BothProfilesController } from '../../../http/profiles/profile.js';
import { SUBSCRIBABLE } from '../../../platform/events/event-catalogue.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { Hook } from '../hook.js';
import { HooksService } from '../hooks.service.js';
import { REGISTER_EXAMPLES, RegisterHookRequest } from './hook.requests.js';

/** A webhook (docs/specification/api.md, 2.4), without its secret. */
class HookView {
  @ApiProperty({ example: 'hook_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty({ example: 'https://example.com/agent-events' })
  url!: string;

  @ApiProperty({
    enum: [...SUBSCRIBABLE],
    isArray: true,
    example: ['session.created', 'message.*'],
  })
  events!: readonly string[];

  @ApiProperty({
    description: 'False after the receiver responded 410, or after five days of nothing but failures',
  })
  active!: boolean;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

class HookListView {
  @ApiProperty({ type: [HookView], description: 'Newest first' })
  hooks!: HookView[];
}

function presentHook(hook: Hook): HookView {
  return {
    id: hook.id,
    url: hook.url,
    events: hook.events,
    active: hook.active,
    created_at: hook.createdAt.toISOString(),
  };
}

function presentHookList(hooks: readonly Hook[]): HookListView {
  return { hooks: hooks.map(presentHook) };
}

/** Webhooks (docs/specification/api.md, 4.1 and 4.2). */
@BothProfilesController('hooks')
export class HooksController {
  constructor(private readonly hooks: HooksService) {}

  @Get()
  @Does('List webhooks', 'Newest first. Secrets are never shown.')
  @RequireScope('hooks:read')
  @Answers(200, 'All webhooks, newest first', HookListView)
  async list(@CurrentCaller() caller: Caller): Promise<HookListView> {
    return presentHookList(await this.hooks.list(caller));
  }

  @Post()
  @Does(
    'Register a webhook',
    'Deliveries are signed if a secret is given. At most 1000 webhooks, and `limits.hooks_per_api_token` for each API token.',
  )
  @RequireScope('hooks:write')
  @TakesJsonBody()
  @ApiBody({ type: RegisterHookRequest, examples: REGISTER_EXAMPLES })
  @Answers(201, 'The new webhook', HookView)
  async register(
    @Body() body: RegisterHookRequest,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
  ): Promise<HookView> {
    return presentHook(await this.hooks.register(body, caller, key?.storing(201, presentHook)));
  }

  @Delete(':id')
  @Does('Delete a webhook', 'Its pending deliveries are not sent.')
  @HttpCode(204)
  @RequireScope('hooks:write')
  @Answers(204, 'The webhook is deleted')
  async remove(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    await this.hooks.remove(id, caller);
  }
}
