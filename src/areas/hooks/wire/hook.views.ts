import { ApiProperty } from '@nestjs/swagger';
import { SUBSCRIBABLE } from '../../../platform/events/event-catalogue.js';
import type { Hook } from '../hook.js';

/** A webhook (docs/specification/api.md, 2.4), without its secret. */
export class HookView {
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

export class HookListView {
  @ApiProperty({ type: [HookView], description: 'Newest first' })
  hooks!: HookView[];
}

export function presentHook(hook: Hook): HookView {
  return {
    id: hook.id,
    url: hook.url,
    events: hook.events,
    active: hook.active,
    created_at: hook.createdAt.toISOString(),
  };
}

export function presentHookList(hooks: readonly Hook[]): HookListView {
  return { hooks: hooks.map(presentHook) };
}
