import { Injectable } from '@nestjs/common';
import { Unauthorized } from '../../common/errors/gateway-error.js';
import { originJson } from '../audit-log/audit-log.js';
import type { SqlRunner } from '../database/sql.js';
import { arrayOf, integer, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
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
      const revoked = await runner.query(REVOKE_MADE, { makers, origin: originJson() });
      const families = revoked.map(({ family }) => family);
      const ended = await runner.query(ENDED_FAMILIES, { families });
      makers = ended.map(({ family }) => family).filter((family) => !all.has(family));
      for (const maker of makers) all.add(maker);
    }
    for (const ending of this.endings) await ending.end(runner, [...all]);
  }
}

const HOLD = statement({
  name: 'tokens.hold',
  params: { family: text },
  row: { held: integer },
  sql: `
    SELECT 1 AS held FROM api_tokens WHERE coalesce(family_id, id) = :family AND revoked_at IS NULL
    ORDER BY created_at DESC LIMIT 1 FOR SHARE`,
});

/** A denial is no row yet, so that it is held off by a lock on its name; the name has a prefix of its own. */
const OWNER_LOCK = `hashtextextended('denial of ' || owner, 0)`;
const HOLD_IDENTITY = statement({
  name: 'identities.hold',
  params: { owners: arrayOf(text) },
  row: {},
  sql: `SELECT pg_advisory_xact_lock_shared(${OWNER_LOCK}) FROM unnest(:owners::text[]) AS owner ORDER BY owner`,
});
const IS_DENIED = statement({
  name: 'identities.is_denied',
  params: { owners: arrayOf(text) },
  row: { owner: text },
  sql: `SELECT owner FROM identity_denials WHERE owner = ANY (:owners)`,
});
/** Whoever denies an owner waits for those that hold it. */
export const LOCK_IDENTITY = statement({
  name: 'identities.lock',
  params: { owner: text },
  row: {},
  sql: `SELECT pg_advisory_xact_lock(${OWNER_LOCK}) FROM (SELECT :owner::text AS owner) AS denied`,
});

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
    await runner.query(HOLD_IDENTITY, { owners });
    if ((await runner.query(IS_DENIED, { owners })).length > 0) throw new TokenRevoked();
    return;
  }
  if ((await runner.query(HOLD, { family: familyOf(caller) })).length === 0) throw new TokenRevoked();
}

/** Whether somebody of an identity provider calls, and no API token. */
function isIdentity({ tokenId }: Caller): boolean {
  return tokenId.includes('|');
}
