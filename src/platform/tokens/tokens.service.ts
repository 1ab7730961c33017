import { Injectable } from '@nestjs/common';
import { BadRequest, Conflict, NotFound } from '../../common/errors/gateway-error.js';
import { newId } from '../../common/ids/typeid.js';
import { Database } from '../database/database.js';
import type { OnCommit, SqlRunner } from '../database/sql.js';
import { type ApiToken, defaultExpiry, type TokenMaker } from './api-token.js';
import type { GrantedScope } from './scopes.js';
import { TokenStore } from './token.store.js';
import { TokenEndings } from './token-endings.js';
import { hashToken, looksLikeToken, mintToken } from './token-format.js';
import { isChannelName } from './token-shares.js';

export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  /** Null means that it never expires. */
  readonly expiresAt: Date | null;
  /** The only user whose sessions the token sees; null for all. */
  readonly boundUserId: string | null;
  /** The only agents that it may use, the first one by default; absent for all. */
  readonly agents?: readonly string[];
  /** The owner with whom it ends; absent when operators make it. */
  readonly maker?: TokenMaker | null;
}

/** A token at the only moment when it can be read. */
export interface MintedToken {
  readonly secret: string;
  readonly token: ApiToken;
}

export interface RotationInput {
  /**
   * When the new token expires; null for never. Undefined means never if the old one never expires, otherwise in 90
   * days.
   */
  readonly expiresAt?: Date | null | undefined;
  /** How long the old token still works beside the new one; 0 ends it at once. */
  readonly keepOldSecs?: number;
}

/** What else happens when a token is made. */
export interface Minting {
  /**
   * Decides, in the transaction, what the token may do: as requested, or less; `replaced` is the token that it
   * replaces. Throws to refuse it.
   */
  admit?(runner: SqlRunner, wanted: TokenInput, replaced?: ApiToken): Promise<TokenInput>;
  readonly onCommit?: OnCommit<MintedToken> | undefined;
}

/** Makes, lists and ends API tokens. */
@Injectable()
export class TokensService {
  constructor(
    private readonly store: TokenStore,
    private readonly database: Database,
    private readonly endings: TokenEndings,
  ) {}

  /** Throws `BadRequest` for a name that settings would mistake for a channel's. */
  async create(input: TokenInput, minting: Minting = {}): Promise<MintedToken> {
    if (isChannelName(input.name)) {
      throw new BadRequest(
        'No token may be named "channel:…": settings name channels so, and their limits would be this token\'s.',
      );
    }
    if (input.name.includes('|')) {
      throw new BadRequest(
        'No token may have "|" in its name: it would be taken for an identity of [auth.jwt].',
      );
    }
    return this.database.transaction(async (runner) => {
      await this.store.holdChanges(runner);
      const admitted = (await minting.admit?.(runner, input)) ?? input;
      return this.mint(draft(admitted), runner, minting);
    });
  }

  list(): Promise<ApiToken[]> {
    return this.store.list();
  }

  /**
   * By id, or by name when only one unrevoked token has it. What the token and its predecessors made ends in the same
   * transaction: tokens with all that they made, webhooks and waiting messages. Streams and running turns follow within
   * a second and a half.
   */
  async revoke(idOrName: string): Promise<ApiToken> {
    const token = await this.one(idOrName);
    return this.database.transaction(async (runner) => {
      await this.store.holdChanges(runner);
      const revoked = await this.store.revoke(token.id, runner);
      if (revoked !== undefined) await this.endFamilies([revoked.familyId], runner);
      return revoked ?? token;
    });
  }

  /**
   * A new token with the same name, scopes and user. The old one ends at the same moment, or after `keepOldSecs` unless
   * it expires earlier. What the old one made now belongs to the new one. The maker of the old one does not end the new
   * one, unless `minting` says so.
   */
  async rotate(
    idOrName: string,
    { expiresAt: requested, keepOldSecs = 0 }: RotationInput,
    minting: Minting = {},
  ): Promise<MintedToken> {
    const old = await this.one(idOrName);
    const expiresAt = requested === undefined ? usualExpiry(old) : requested;
    return this.database.transaction(async (runner) => {
      await this.store.holdChanges(runner);
      const { name, scopes, boundUserId, agents, familyId, bootstrapAt } = old;
      const wanted = { name, scopes, boundUserId, ...(agents !== null && { agents }), expiresAt };
      const admitted = (await minting.admit?.(runner, wanted, old)) ?? wanted;
      const ended =
        keepOldSecs > 0
          ? await this.store.endWithin(old.id, keepOldSecs, runner)
          : await this.store.revoke(old.id, runner);
      if (ended === undefined) throw new Conflict('The token was revoked meanwhile.');
      return this.mint({ ...draft(admitted), familyId, bootstrapAt }, runner, minting);
    });
  }

  private async mint(
    drafted: ApiToken,
    runner: SqlRunner,
    { onCommit }: Pick<Minting, 'onCommit'>,
  ): Promise<MintedToken> {
    const secret = mintToken();
    const token = await this.store.insert(drafted, hashToken(secret), runner);
    if (token === undefined) throw new Conflict('This token exists already.');
    const minted = { secret, token };
    await onCommit?.(runner, minted);
    return minted;
  }

  /** Creates a token only if there is none at all, revoked ones included; safe when several processes try at once. */
  async createFirst(input: TokenInput): Promise<MintedToken | undefined> {
    const secret = mintToken();
    return this.database.transaction(async (runner) => {
      await this.store.holdCreation(runner);
      if (await this.store.hasAny(runner)) return undefined;
      const token = await this.store.insert(draft(input), hashToken(secret), runner);
      return token && { secret, token };
    });
  }

  /**
   * Makes the given token an administrator's, unless it already is one, and revokes the one that was given before: the
   * new one takes over what that one made. A token that was set before changes nothing, so that a replica that still
   * starts with the old one neither brings it back nor ends the new one. Throws `BadRequest` when it does not have the
   * form of a token. White space around it, such as the line feed of a Secret's file, is removed.
   * @returns whether the token is the one in force; false when it was revoked, or replaced by another
   */
  async install(given: string): Promise<boolean> {
    const secret = given.trim();
    if (!looksLikeToken(secret)) {
      throw new BadRequest(
        'GATEWAY_BOOTSTRAP_TOKEN is not a token: make one with "agent-gateway auth token mint".',
      );
    }
    return this.database.transaction(async (runner) => {
      await this.store.holdChanges(runner);
      await this.store.holdCreation(runner);
      const before = await this.store.bootstrapInForce(runner);
      const admin = draft({ name: 'bootstrap', scopes: ['*'], expiresAt: null, boundUserId: null });
      const heir = { ...admin, familyId: before?.familyId ?? admin.familyId };
      await this.store.install(heir, hashToken(secret), runner);
      const replaced = await this.store.revokeReplaced(runner);
      await this.endFamilies(
        replaced.map(({ familyId }) => familyId),
        runner,
      );
      return this.store.isInForce(hashToken(secret), runner);
    });
  }

  /** Ends what an identity or a family made, as a denial does, but denies nothing. */
  endMadeBy(owner: string): Promise<void> {
    return this.database.transaction(async (runner) => {
      await this.store.holdChanges(runner);
      await this.endings.end(runner, [owner]);
    });
  }

  /** Ends what was made by those of these families that have no unrevoked token left. */
  private async endFamilies(familyIds: readonly string[], runner: SqlRunner): Promise<void> {
    if (familyIds.length === 0) return;
    const ended = [...(await this.store.endedAmong(familyIds, runner))];
    if (ended.length > 0) await this.endings.end(runner, ended);
  }

  private async one(idOrName: string): Promise<ApiToken> {
    const found = await this.store.findNamed(idOrName);
    const alive = found.filter(({ expiresAt }) => expiresAt === null || expiresAt > new Date());
    const [token, ...others] = alive.length > 0 ? alive : found;
    if (token === undefined) throw new NotFound('There is no unrevoked token with this id or name.');
    if (others.length > 0)
      throw new Conflict('Several tokens have this name: use the id ("auth token list" shows it).');
    return token;
  }
}

/** A token that never expires is replaced by one that never does. */
function usualExpiry({ expiresAt }: ApiToken): Date | null {
  return expiresAt === null ? null : defaultExpiry();
}

function draft(input: TokenInput): ApiToken {
  const id = newId('tok');
  const life = { createdAt: new Date(), lastUsedAt: null, revokedAt: null };
  const { agents = null, maker = null } = input;
  return { ...input, ...life, agents, maker, id, familyId: id, bootstrapAt: null };
}
