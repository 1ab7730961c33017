import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '../../../http/paging/keyset-list.js';
import type { ApiToken } from '../../../platform/tokens/api-token.js';
import { SCOPES } from '../../../platform/tokens/scopes.js';
import type { MintedToken } from '../../../platform/tokens/tokens.service.js';

/** A token without its secret. */
export class TokenView {
  @ApiProperty({ example: 'tok_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty({ example: 'ci' })
  name!: string;

  @ApiProperty({
    enum: [...SCOPES, '*'],
    isArray: true,
    description: 'What it may do; `*` is everything, what later versions add included',
  })
  scopes!: readonly string[];

  @ApiProperty({ type: 'string', nullable: true, description: 'The only user that it sees; null sees all' })
  user_id!: string | null;

  @ApiProperty({
    type: 'string',
    isArray: true,
    nullable: true,
    description: 'The only agents that it may use, the first one by default; null is all',
  })
  agents!: readonly string[] | null;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Null: never' })
  expires_at!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Noted every half minute; null: never',
  })
  last_used_at!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  revoked_at!: string | null;
}

/** A token at the only moment when it can be read. */
export class NewTokenView extends TokenView {
  @ApiProperty({ example: 'agw_…', description: 'The token itself: shown in this answer, once' })
  token!: string;
}

export class TokenPageView {
  @ApiProperty({ type: [TokenView], description: 'Newest first' })
  items!: TokenView[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The `cursor` of the next page; null on the last',
  })
  next_cursor!: string | null;
}

function presentToken(token: ApiToken): TokenView {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    user_id: token.boundUserId,
    agents: token.agents,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt?.toISOString() ?? null,
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}

export function presentNewToken({ secret, token }: MintedToken): NewTokenView {
  return { token: secret, ...presentToken(token) };
}

export function presentTokenPage({ items, nextCursor }: Page<ApiToken>): TokenPageView {
  return { items: items.map(presentToken), next_cursor: nextCursor };
}
