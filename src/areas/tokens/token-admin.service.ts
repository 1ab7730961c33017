import { Injectable } from '@nestjs/common';
import { Forbidden, NotFound } from '../../common/errors/gateway-error.js';
import { isId } from '../../common/ids/typeid.js';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import type { OnCommit, SqlRunner } from '../../platform/database/sql.js';
import { Settings } from '../../platform/settings/settings.js';
import { type ApiToken, defaultExpiry, type TokenMaker } from '../../platform/tokens/api-token.js';
import { type Caller, familyOf } from '../../platform/tokens/caller.js';
import { TokenStore } from '../../platform/tokens/token.store.js';
import { holdToken, TokenRevoked } from '../../platform/tokens/token-endings.js';
import {
  type MintedToken,
  type Minting,
  type RotationInput,
  type TokenInput,
  TokensService,
} from '../../platform/tokens/tokens.service.js';
import { refuseMoreThanHeld } from './held-rights.js';

const LIST = new KeysetList('tokens', ['time', 'text'], ({ createdAt, id }: ApiToken) => [createdAt, id]);

/** The input for a new token; without `expiresAt` it lives for 90 days, or as long as its maker's if that is less. */
export type NewTokenInput = Omit<TokenInput, 'expiresAt'> & { readonly expiresAt?: Date | null | undefined };

/** Lets holders of tokens manage tokens: nobody can give more rights than they have. */
@Injectable()
export class TokenAdmin {
  constructor(
    private readonly store: TokenStore,
    private readonly tokens: TokensService,
    private readonly settings: Settings,
  ) {}

  /** Newest first, revoked ones too. */
  async list(query: PageQuery): Promise<Page<ApiToken>> {
    return LIST.page(await this.store.page(LIST.after(query), query.limit + 1), query);
  }

  /** Throws `MoreThanHeld`, and `TokenRevoked` when the caller's token was revoked meanwhile. */
  create(
    { expiresAt, ...input }: NewTokenInput,
    caller: Caller,
    onCommit?: OnCommit<MintedToken>,
  ): Promise<MintedToken> {
    const wanted = { ...input, expiresAt: expiresAt === undefined ? defaultExpiry() : expiresAt };
    return this.tokens.create(wanted, this.minting(caller, expiresAt === undefined, onCommit));
  }

  /**
   * Replaces a token that the caller could create itself, because the caller gets the new secret. Throws as `create` does.
   */
  rotate(
    id: string,
    rotation: RotationInput,
    caller: Caller,
    onCommit?: OnCommit<MintedToken>,
  ): Promise<MintedToken> {
    refuseOtherText(id);
    return this.tokens.rotate(id, rotation, this.minting(caller, rotation.expiresAt === undefined, onCommit));
  }

  /** Also tokens with more rights than the caller's: anybody may end a leaked token. */
  async revoke(id: string): Promise<void> {
    refuseOtherText(id);
    await this.tokens.revoke(id);
  }

  /** @param endsWithMaker whether the new token ends with its maker's when it would live longer, instead of being refused */
  private minting(caller: Caller, endsWithMaker: boolean, onCommit?: OnCommit<MintedToken>): Minting {
    return {
      admit: async (runner, wanted, replaced) => {
        await holdToken(runner, caller);
        if (replaced !== undefined) await this.refuseMaker(replaced, caller, runner);
        const heldUntil = await this.heldUntil(caller, runner);
        const expiresAt = endsWithMaker ? earlier(wanted.expiresAt, heldUntil) : wanted.expiresAt;
        // A new token has the agents of its maker; one that is rotated, its own.
        const agents = wanted.agents ?? (replaced === undefined ? caller.agents : undefined);
        const maker = makerOf(caller, replaced);
        const admitted = { ...wanted, expiresAt, maker, ...(agents !== undefined && { agents }) };
        refuseMoreThanHeld(admitted, {
          caller,
          expiresAt: heldUntil,
          toolRules: this.settings.current.tools.tokens,
          isNameKnown: await this.store.isNameKnown(wanted.name, runner),
        });
        return admitted;
      },
      onCommit,
    };
  }

  /** A token that replaced its maker would end only with itself. */
  private async refuseMaker({ familyId }: ApiToken, caller: Caller, runner: SqlRunner): Promise<void> {
    if (!(await this.store.isMadeBy(familyOf(caller), familyId, runner))) return;
    throw new Forbidden(
      'This token ends with the one that it would rotate. Rotate that one with itself, or with a token that it did not make.',
      { details: { reason: 'made_by_it' } },
    );
  }

  /** Read in the transaction, so that neither a revocation nor a rotation is overtaken. */
  private async heldUntil({ tokenId, expiresAtMs }: Caller, runner: SqlRunner): Promise<Date | null> {
    if (expiresAtMs !== undefined) return new Date(expiresAtMs);
    const expiresAt = await this.store.expiryOf(tokenId, runner);
    if (expiresAt === undefined) throw new TokenRevoked();
    return expiresAt;
  }
}

/** Over HTTP tokens have ids: another token may have the name by now. */
function refuseOtherText(id: string): void {
  if (!isId('tok', id)) throw new NotFound('There is no unrevoked token with this id.');
}

/** The holder of the secret; a token that rotates itself still ends with its own maker. */
function makerOf(caller: Caller, replaced: ApiToken | undefined): TokenMaker | null {
  if (replaced?.familyId === familyOf(caller)) return replaced.maker;
  return { family: familyOf(caller), credential: caller.credential ?? null };
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
