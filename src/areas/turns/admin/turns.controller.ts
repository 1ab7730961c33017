import { Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { TextFilter, WordFilter } from '../../../http/validation/filter.decorator.js';
import { Since } from '../../../http/validation/since.decorator.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { TurnDirectory } from '../turn-directory.service.js';
import { TURN_STATUSES, type TurnStatus } from '../turn-status.js';
import { AdminTurnPageView, CancelledTurnView, presentTurnPage } from './turn.views.js';
import { presentTurnDetail, TurnDetailView } from './turn-detail.views.js';

const OWN = 'Callers bound to a user see their own, tokens of some agents those of their agents.';

class TurnsQuery extends PageQuery {
  @TextFilter('The id of the session')
  session?: string;

  @TextFilter('The user of the session')
  user?: string;

  @TextFilter('The agent of the session')
  agent?: string;

  @WordFilter(TURN_STATUSES)
  status?: TurnStatus;

  @Optional()
  @Since('without it, from the oldest on')
  since?: Date;
}

/** Turns (docs/specification/additions.md, Operators' API). */
@AdminController('turns')
export class AdminTurnsController {
  constructor(private readonly turns: TurnDirectory) {}

  @Get()
  @Does('List turns', `Newest first. ${OWN}`)
  @AdminScope('sessions:read', { tier: 'sessions_read', boundCallers: 'own' })
  @Answers(200, 'A page of turns, newest first', AdminTurnPageView)
  async list(@Query() query: TurnsQuery, @CurrentCaller() caller: Caller): Promise<AdminTurnPageView> {
    return presentTurnPage(await this.turns.list(query, caller));
  }

  @Get(':id')
  @Does('Show a turn', 'With its calls of models and tools: how each went, how long it took, what it cost.')
  @AdminScope('sessions:read', { tier: 'sessions_read', boundCallers: 'own' })
  @Answers(200, 'The turn', TurnDetailView)
  async find(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<TurnDetailView> {
    return presentTurnDetail(await this.turns.find(id, caller));
  }

  @Post(':id/cancel')
  @Does(
    'End a turn',
    'It ends within a second, whichever replica runs it; what it has said stays in the history.',
  )
  @HttpCode(200)
  @AdminScope('sessions:write', { tier: 'sessions_write', boundCallers: 'own' })
  @Answers(200, 'The turn is being ended', CancelledTurnView)
  cancel(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<CancelledTurnView> {
    return this.turns.cancel(id, caller);
  }
}
