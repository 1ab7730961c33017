import { Get, Query } from '@nestjs/common';
import { AdminScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/profile.js';
import { TokenAdmin } from '../token-admin.service.js';
import { presentTokenPage, TokenPageView } from './token.views.js';

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
}
