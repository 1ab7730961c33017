import { Body, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { TokenAdmin } from '../token-admin.service.js';
import {
  CREATE_EXAMPLES,
  CreateTokenRequest,
  newTokenInput,
  ROTATE_EXAMPLES,
  RotateTokenRequest,
  rotationOf,
} from './token.requests.js';
import { NewTokenView, presentNewToken, presentTokenPage, TokenPageView } from './token.views.js';

const NO_MORE =
  'Nobody gives more than they hold: a token with scopes, a user, an end or tools beyond those of your own is 403. ' +
  'The token itself is in this answer and nowhere else.';

/** API tokens (docs/specification/additions.md, Operators' API). */
@AdminController('tokens')
export class TokensController {
  constructor(private readonly tokens: TokenAdmin) {}

  @Get()
  @Does('List API tokens', 'Newest first, revoked ones too; never a token itself.')
  @AdminScope('tokens:read')
  @Answers(200, 'A page of tokens, newest first', TokenPageView)
  async list(@Query() query: PageQuery): Promise<TokenPageView> {
    return presentTokenPage(await this.tokens.list(query));
  }

  @Post()
  @Does('Create an API token', NO_MORE)
  @AdminScope('tokens:write')
  @TakesJsonBody()
  @ApiBody({ type: CreateTokenRequest, examples: CREATE_EXAMPLES })
  @Answers(201, 'The new token', NewTokenView)
  async create(
    @Body() body: CreateTokenRequest,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
  ): Promise<NewTokenView> {
    const stored = key?.storingSealed(201, presentNewToken);
    return presentNewToken(await this.tokens.create(newTokenInput(body), caller, stored));
  }

  @Delete(':id')
  @Does(
    'Revoke an API token',
    'Every replica refuses it within 1.5 s, and what it made ends: webhooks, waiting messages, streams and running turns.',
  )
  @HttpCode(204)
  @AdminScope('tokens:write')
  @Answers(204, 'The token is revoked')
  async revoke(@Param('id') id: string): Promise<void> {
    await this.tokens.revoke(id);
  }

  @Post(':id/rotate')
  @Does(
    'Rotate an API token',
    `A new token with the same name, scopes and user takes over what the old one made. ${NO_MORE}`,
  )
  @AdminScope('tokens:write')
  @TakesJsonBody()
  @ApiBody({ type: RotateTokenRequest, examples: ROTATE_EXAMPLES })
  @Answers(201, 'The new token', NewTokenView)
  async rotate(
    @Param('id') id: string,
    @Body() body: RotateTokenRequest,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
  ): Promise<NewTokenView> {
    const stored = key?.storingSealed(201, presentNewToken);
    return presentNewToken(await this.tokens.rotate(id, rotationOf(body), caller, stored));
  }
}
