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
   * Ends what these families of tokens, identities or single JWTs made, in the transaction that revokes the last of
   * them. Code that makes such a thing locks the token (`holdToken`), so nothing is made while this runs.
   */
  end(runner: SqlRunner, owners: readonly string[]): Promise<void>;
}

/** Everything that ends with a token: the tokens that it made, and what areas register at the start. */
@Injectable()
export class TokenEndings {
  private readonly endings: TokenEnding[] = [];

  add(ending: TokenEnding): void {
    this.endings.push(ending);
  }

  /**
   * Ends what these owners made, and what their tokens made in turn. Locks all tokens first, as code does that makes
   * something with a token. The caller holds the lock on changes of tokens (`HOLD_CHANGES`).
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

/** A denial has no row before it is made, so its name is locked instead; the prefix keeps such names apart. */
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
/** A denial of an owner waits for transactions that hold this lock. */
export const LOCK_IDENTITY = statement({
  name: 'identities.lock',
  params: { owner: text },
  row: {},
  sql: `SELECT pg_advisory_xact_lock(${OWNER_LOCK}) FROM (SELECT :owner::text AS owner) AS denied`,
});

/** The token was revoked while its request was served, or while the request waited. */
export class TokenRevoked extends Unauthorized {
  constructor() {
    super('The access token was revoked while this request was served. Nothing of it is kept.', {
      details: { reason: 'token_revoked' },
      headers: { 'WWW-Authenticate': 'Bearer realm="agent-gateway", error="invalid_token"' },
    });
  }
}

/**
 * Keeps the caller's token from being revoked until the transaction ends, for effects that outlive the request and end
 * with the token. Call it before other rows are locked: a revocation locks the token first too. Throws `TokenRevoked`.
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

/** Whether the caller comes from an identity provider, and so has no API token. */
function isIdentity({ tokenId }: Caller): boolean {
  return tokenId.includes('|');
}
