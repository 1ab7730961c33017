import { Injectable } from '@nestjs/common';
import { Unauthorized } from '../../common/errors/gateway-error.js';
import { originJson } from '../audit-log/audit-log.js';
import type { SqlRunner, Statement } from '../database/sql.js';
import { type Caller, familyOf, ownersOf } from './caller.js';
import { ENDED_FAMILIES, REVOKE_MADE } from './token.sql.js';

/** Something that tokens make and that ends with them, such as their webhooks. */
export interface TokenEnding {
  /**
   * Ends what these families of tokens, identities or single JWTs made, in the transaction that revokes the last of them.
   * Whoever makes such a thing holds the token meanwhile (`holdToken`), so that nothing is made while this runs.
   */
  end(runner: SqlRunner, owners: readonly string[]): Promise<void>;
}

/** All that ends with a token: the tokens that it made, and what areas add at the start. */
@Injectable()
export class TokenEndings {
  private readonly endings: TokenEnding[] = [];

  /** The same where there is no container, as at the command line. */
  static of(...endings: readonly TokenEnding[]): TokenEndings {
    const all = new TokenEndings();
    for (const ending of endings) all.add(ending);
    return all;
  }

  add(ending: TokenEnding): void {
    this.endings.push(ending);
  }

  /**
   * Ends what these owners made, and what their tokens made in turn. All tokens are locked first, as by whoever makes
   * something with one. The caller holds changes of tokens (`HOLD_CHANGES`).
   */
  async end(runner: SqlRunner, owners: readonly string[]): Promise<void> {
    const all = new Set(owners);
    for (let makers = owners; makers.length > 0; ) {
      const revoked = await runner.query<{ family: string }>(REVOKE_MADE, [[...makers], originJson()]);
      const families = revoked.map(({ family }) => family);
      const ended = await runner.query<{ family: string }>(ENDED_FAMILIES, [families]);
      makers = ended.map(({ family }) => family).filter((family) => !all.has(family));
      for (const maker of makers) all.add(maker);
    }
    for (const ending of this.endings) await ending.end(runner, [...all]);
  }
}

const HOLD: Statement = {
  name: 'tokens.hold',
  text: `
    SELECT 1 FROM api_tokens WHERE coalesce(family_id, id) = $1 AND revoked_at IS NULL
    ORDER BY created_at DESC LIMIT 1 FOR SHARE`,
};

/** A denial is no row yet, so that it is held off by a lock on its name; the name has a prefix of its own. */
const OWNER_LOCK = `hashtextextended('denial of ' || owner, 0)`;
const HOLD_IDENTITY: Statement = {
  name: 'identities.hold',
  text: `SELECT pg_advisory_xact_lock_shared(${OWNER_LOCK}) FROM unnest($1::text[]) AS owner ORDER BY owner`,
};
const IS_DENIED: Statement = {
  name: 'identities.is_denied',
  text: `SELECT 1 FROM identity_denials WHERE owner = ANY ($1)`,
};
/** Whoever denies `$1` waits for those that hold it. */
export const LOCK_IDENTITY: Statement = {
  name: 'identities.lock',
  text: `SELECT pg_advisory_xact_lock(${OWNER_LOCK}) FROM unnest($1::text[]) AS owner`,
};

/** The token was revoked while its request was served, or waited. */
export class TokenRevoked extends Unauthorized {
  constructor() {
    super('The access token was revoked while this request was served. Nothing of it is kept.', {
      details: { reason: 'token_revoked' },
      headers: { 'WWW-Authenticate': 'Bearer realm="agent-gateway", error="invalid_token"' },
    });
  }
}

/**
 * Keeps the caller's token from being revoked until the transaction ends, for what outlives the request and ends with
 * the token. Call it before other rows are locked: a revocation also locks the token first. Throws `TokenRevoked`.
 */
export async function holdToken(runner: SqlRunner, caller: Caller): Promise<void> {
  if (caller.channel !== undefined) return;
  if (isIdentity(caller)) {
    const owners = ownersOf(caller);
    await runner.query(HOLD_IDENTITY, [owners]);
    if ((await runner.query(IS_DENIED, [owners])).length > 0) throw new TokenRevoked();
    return;
  }
  if ((await runner.query(HOLD, [familyOf(caller)])).length === 0) throw new TokenRevoked();
}

/** Whether somebody of an identity provider calls, and no API token. */
function isIdentity({ tokenId }: Caller): boolean {
  return tokenId.includes('|');
}
