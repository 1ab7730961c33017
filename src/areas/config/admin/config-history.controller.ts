import { Body, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import type { Page } from '../../../http/paging/keyset-list.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { Moment, NextCursor, TextOrNull } from '../../../http/paging/page-view.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { authorOf, type ConfigAction, type ConfigChange, shownContent } from '../config-change.js';
import { Configuration, type RollbackOutcome } from '../configuration.js';

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
    edits: edits.map(({ key, before, after }) => ({
      key,
      before: shownContent(before),
      after: shownContent(after),
    })),
  };
}

class RollbackRequest {
  @ApiPropertyOptional({
    example: '16',
    description: 'Everything after it is undone; 0 is before all changes. Without it, the newest change is',
  })
  @Optional()
  @Matches(/^\d{1,18}$/, { message: 'must be the number of a revision, as text' })
  revision?: string;
}

const ROLLBACK_EXAMPLES = {
  newest: { summary: 'Undo the newest change', value: {} },
  since: { summary: 'Undo everything after a revision', value: { revision: '16' } },
};

class RollbackView {
  @ApiProperty({ type: [String], description: 'The keys that changed', example: ['agent.max_turns'] })
  changed!: readonly string[];

  @ApiProperty({ description: 'One of these keys takes effect at the next start only' })
  reload_required!: boolean;
}

function presentRollback({ changed, reloadRequired }: RollbackOutcome): RollbackView {
  return { changed, reload_required: reloadRequired };
}

/** What was changed at run time (docs/specification/additions.md, Operators' API). */
@AdminController('config')
export class ConfigHistoryController {
  constructor(private readonly configuration: Configuration) {}

  @Get('history')
  @Does('List changes of the configuration', 'Those made at run time, newest first; secrets are never shown.')
  @AdminScope('config:read')
  @Answers(200, 'A page of changes, newest first', ConfigHistoryPageView)
  async list(@Query() query: PageQuery, @CurrentCaller() caller: Caller): Promise<ConfigHistoryPageView> {
    refuseSomeAgents('the configuration is that', caller);
    return presentHistory(await this.configuration.history(query));
  }

  @Post('rollback')
  @Does(
    'Change the configuration back',
    'Those made at run time, as a new change; every replica has it within 1.5 s. Keys that decide who may do what need the scope security:write.',
  )
  @HttpCode(200)
  @AdminScope('config:write', { tier: 'config_write' })
  @TakesJsonBody()
  @ApiBody({ type: RollbackRequest, examples: ROLLBACK_EXAMPLES })
  @Answers(200, 'What was undone', RollbackView)
  async rollBack(
    @Body() { revision }: RollbackRequest,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
  ): Promise<RollbackView> {
    refuseSomeAgents('the configuration is that', caller);
    const to = revision === undefined ? undefined : BigInt(revision);
    const onCommit = key?.storing(200, presentRollback);
    return presentRollback(await this.configuration.rollBack(authorOf(caller), to, onCommit));
  }
}
