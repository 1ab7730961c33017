import { Get, Query } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import type { Page } from '../../../http/paging/keyset-list.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { Moment, NextCursor, TextOrNull } from '../../../http/paging/page-view.js';
import { AdminController } from '../../../http/profiles/faces.js';
import type { OverrideContent } from '../../../platform/settings/candidate-builder.js';
import { redactionMarker } from '../../../platform/settings/redaction.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { ConfigAction, ConfigChange } from '../config-change.js';
import { ConfigHistory } from '../config-history.service.js';

const ACTIONS: readonly ConfigAction[] = ['patch', 'rollback', 'reload'];

/** Any JSON. */
const ANYTHING = [
  { type: 'string', nullable: true },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'array', items: {} },
  { type: 'object' },
];

class ConfigEditView {
  @ApiProperty({ example: 'agent.max_turns' })
  key!: string;

  @ApiProperty({
    oneOf: ANYTHING,
    description: 'What was set at run time; null when nothing was, a marker for a secret',
  })
  before!: unknown;

  @ApiProperty({ oneOf: ANYTHING, description: 'The same afterwards' })
  after!: unknown;
}

class ConfigChangeView {
  @ApiProperty({ example: '17' })
  revision!: string;

  @ApiProperty({ enum: ACTIONS })
  action!: ConfigAction;

  @ApiProperty({ description: 'The name of the token, or a person at the command line' })
  actor!: string;

  @TextOrNull('Null at the command line')
  token_id!: string | null;

  @Moment()
  changed_at!: string;

  @ApiProperty({ type: [ConfigEditView] })
  edits!: ConfigEditView[];
}

class ConfigHistoryPageView {
  @ApiProperty({ type: [ConfigChangeView], description: 'Newest first' })
  items!: ConfigChangeView[];

  @NextCursor()
  next_cursor!: string | null;
}

function presentHistory({ items, nextCursor }: Page<ConfigChange>): ConfigHistoryPageView {
  return { items: items.map(presentChange), next_cursor: nextCursor };
}

function presentChange({ revision, action, actor, changedAt, edits }: ConfigChange): ConfigChangeView {
  return {
    revision,
    action,
    actor: actor.name,
    token_id: actor.tokenId,
    changed_at: changedAt.toISOString(),
    edits: edits.map(({ key, before, after }) => ({ key, before: shown(before), after: shown(after) })),
  };
}

function shown(content: OverrideContent | null): unknown {
  if (content === null) return null;
  return 'sealed' in content ? redactionMarker : content.value;
}

/** What was changed at run time (docs/specification/additions.md, Operators' API). */
@AdminController('config')
export class ConfigHistoryController {
  constructor(private readonly history: ConfigHistory) {}

  @Get('history')
  @Does('List changes of the configuration', 'Those made at run time, newest first; secrets are never shown.')
  @AdminScope('config:read')
  @Answers(200, 'A page of changes, newest first', ConfigHistoryPageView)
  async list(@Query() query: PageQuery, @CurrentCaller() caller: Caller): Promise<ConfigHistoryPageView> {
    return presentHistory(await this.history.list(query, caller));
  }
}
