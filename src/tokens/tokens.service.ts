import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { BadRequest, Conflict, NotFound } from '../errors/gateway-error.js';
import { newId } from '../ids/typeid.js';
import type { ApiToken } from './api-token.js';
import type { GrantedScope } from './scopes.js';
import { TokenStore } from './token.store.js';
import { hashToken, looksLikeToken, mintToken } from './token-format.js';

export interface TokenWish {
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  /** Null never expires. */
  readonly expiresAt: Date | null;
  /** The only user whose sessions the token sees; null for all. */
  readonly boundUserId: string | null;
}

/** A token at the only moment at which it can be read. */
export interface MintedToken {
  readonly secret: string;
  readonly token: ApiToken;
}

/** Makes, lists and ends API tokens. */
@Injectable()
export class TokensService {
  constructor(
    private readonly store: TokenStore,
    private readonly database: Database,
  ) {}

  async create(wish: TokenWish): Promise<MintedToken> {
    const secret = mintToken();
    const token = await this.store.insert(draft(wish), hashToken(secret));
    if (token === undefined) throw new Conflict('This token exists already.');
    return { secret, token };
  }

  list(): Promise<ApiToken[]> {
    return this.store.list();
  }

  /** By id, or by name when only one unrevoked token has it. */
  async revoke(idOrName: string): Promise<ApiToken> {
    const token = await this.one(idOrName);
    return (await this.store.revoke(token.id)) ?? token;
  }

  /** A new token with the same name, scopes and user; the old one ends in the same moment. */
  async rotate(idOrName: string, expiresAt: Date | null): Promise<MintedToken> {
    const old = await this.one(idOrName);
    const secret = mintToken();
    return this.database.transaction(async (runner) => {
      const revoked = await this.store.revoke(old.id, runner);
      if (revoked === undefined) throw new Conflict('The token was revoked meanwhile.');
      const wish = { name: old.name, scopes: old.scopes, boundUserId: old.boundUserId, expiresAt };
      const token = await this.store.insert(draft(wish), hashToken(secret), runner);
      if (token === undefined) throw new Conflict('This token exists already.');
      return { secret, token };
    });
  }

  /** Creates a token only while there is none at all, revoked ones included; also when several processes try at once. */
  async createFirst(wish: TokenWish): Promise<MintedToken | undefined> {
    const secret = mintToken();
    return this.database.transaction(async (runner) => {
      await this.store.holdCreation(runner);
      if (await this.store.hasAny(runner)) return undefined;
      const token = await this.store.insert(draft(wish), hashToken(secret), runner);
      return token && { secret, token };
    });
  }

  /**
   * Makes the given token an administrator's, unless it is one already. Throws `BadRequest` when it has not the form
   * of a token. A revoked one stays revoked. Blanks around it are a Secret's line feed, not part of it.
   */
  async install(given: string): Promise<void> {
    const secret = given.trim();
    if (!looksLikeToken(secret)) {
      throw new BadRequest(
        'GATEWAY_BOOTSTRAP_TOKEN is not a token: make one with "agent-gateway auth token mint".',
      );
    }
    const wish: TokenWish = { name: 'bootstrap', scopes: ['*'], expiresAt: null, boundUserId: null };
    await this.store.insert(draft(wish), hashToken(secret));
  }

  private async one(idOrName: string): Promise<ApiToken> {
    const [token, ...others] = await this.store.findNamed(idOrName);
    if (token === undefined) throw new NotFound('There is no unrevoked token with this id or name.');
    if (others.length > 0)
      throw new Conflict('Several tokens have this name: use the id ("auth token list" shows it).');
    return token;
  }
}

function draft(wish: TokenWish): ApiToken {
  return { ...wish, id: newId('tok'), createdAt: new Date(), lastUsedAt: null, revokedAt: null };
}
