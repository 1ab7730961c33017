import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import type { ApiToken } from '../../platform/tokens/api-token.js';
import { TokenStore } from '../../platform/tokens/token.store.js';

const LIST = new KeysetList<ApiToken>('tokens', ['time', 'text'], ({ createdAt, id }) => [createdAt, id]);

/** Tokens as those manage them who hold one. */
@Injectable()
export class TokenAdmin {
  constructor(private readonly store: TokenStore) {}

  /** Newest first, revoked ones too. */
  async list(query: PageQuery): Promise<Page<ApiToken>> {
    return LIST.page(await this.store.page(LIST.after(query), query.limit + 1), query);
  }
}
