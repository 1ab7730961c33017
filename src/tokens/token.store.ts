import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { SqlRunner, Statement } from '../database/sql.js';
import type { ApiToken } from './api-token.js';
import type { GrantedScope } from './scopes.js';

interface TokenRow {
  id: string;
  name: string;
  scopes: GrantedScope[];
  user_id: string | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

const COLUMNS = 'id, name, scopes, user_id, created_at, expires_at, last_used_at, revoked_at';

/** Tokens are made and ended by whoever operates the gateway, in the same statement as their audit entry. */
const AUDITED = (action: string, from: string): string => `
  INSERT INTO audit_entries (action, actor, target, outcome, details)
  SELECT '${action}', 'operator', name, 'success',
    jsonb_build_object('token_id', id, 'scopes', scopes, 'user_id', user_id, 'expires_at', expires_at)
  FROM ${from}`;

const INSERT: Statement = {
  name: 'tokens.insert',
  text: `
    WITH made AS (
      INSERT INTO api_tokens (id, name, sha256, scopes, user_id, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (sha256) DO NOTHING RETURNING ${COLUMNS}
    ), audited AS (${AUDITED('token.create', 'made')})
    SELECT ${COLUMNS} FROM made`,
};
/** Every request waits for these two; one that hangs shall become a 503 soon, and give its connection up. */
const TIMEOUT_MS = 5000;

const FIND_BY_HASH: Statement = {
  name: 'tokens.find_by_hash',
  comesFirst: true,
  timeoutMs: TIMEOUT_MS,
  text: `SELECT ${COLUMNS} FROM api_tokens WHERE sha256 = $1 AND revoked_at IS NULL`,
};
const LIST: Statement = {
  name: 'tokens.list',
  text: `SELECT ${COLUMNS} FROM api_tokens ORDER BY created_at DESC, id DESC`,
};
const FIND_NAMED: Statement = {
  name: 'tokens.find_named',
  text: `SELECT ${COLUMNS} FROM api_tokens
         WHERE (id = $1 OR name = $1) AND revoked_at IS NULL ORDER BY created_at DESC`,
};
const REVOKE: Statement = {
  name: 'tokens.revoke',
  text: `
    WITH ended AS (
      UPDATE api_tokens SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING ${COLUMNS}
    ), audited AS (${AUDITED('token.revoke', 'ended')})
    SELECT ${COLUMNS} FROM ended`,
};
const COUNT: Statement = { name: 'tokens.any', text: `SELECT EXISTS (SELECT 1 FROM api_tokens) AS any` };
const HOLD_CREATION: Statement = {
  name: 'tokens.hold_creation',
  text: `LOCK TABLE api_tokens IN SHARE ROW EXCLUSIVE MODE`,
};
const REVISION: Statement = {
  name: 'tokens.revision',
  comesFirst: true,
  timeoutMs: TIMEOUT_MS,
  text: `SELECT value::text AS revision FROM change_counters WHERE name = 'api_tokens'`,
};
const TOUCH: Statement = {
  name: 'tokens.touch',
  text: `UPDATE api_tokens SET last_used_at = now() WHERE id = ANY ($1)`,
};

/** The statements of API tokens. */
@Injectable()
export class TokenStore {
  constructor(private readonly database: Database) {}

  /** Undefined when a token with this very hash exists already. */
  async insert(
    token: ApiToken,
    sha256: Buffer,
    runner: SqlRunner = this.database,
  ): Promise<ApiToken | undefined> {
    const { id, name, scopes, boundUserId, expiresAt } = token;
    const rows = await runner.query<TokenRow>(INSERT, [
      id,
      name,
      sha256,
      [...scopes],
      boundUserId,
      expiresAt,
    ]);
    return rows[0] && toToken(rows[0]);
  }

  async findUnrevokedByHash(sha256: Buffer): Promise<ApiToken | undefined> {
    const [row] = await this.database.query<TokenRow>(FIND_BY_HASH, [sha256]);
    return row && toToken(row);
  }

  async list(): Promise<ApiToken[]> {
    return (await this.database.query<TokenRow>(LIST)).map(toToken);
  }

  /** Unrevoked tokens that have this id or this name. */
  async findNamed(idOrName: string): Promise<ApiToken[]> {
    return (await this.database.query<TokenRow>(FIND_NAMED, [idOrName])).map(toToken);
  }

  /** Undefined when it is revoked already. */
  async revoke(id: string, runner: SqlRunner = this.database): Promise<ApiToken | undefined> {
    const [row] = await runner.query<TokenRow>(REVOKE, [id]);
    return row && toToken(row);
  }

  async hasAny(runner: SqlRunner): Promise<boolean> {
    const [row] = await runner.query<{ any: boolean }>(COUNT);
    return row?.any === true;
  }

  /** Until the transaction ends nobody else writes tokens; they can be read. */
  async holdCreation(runner: SqlRunner): Promise<void> {
    await runner.query(HOLD_CREATION);
  }

  /** Changes with every change to any token, except its last use. */
  async revision(): Promise<string> {
    const [row] = await this.database.query<{ revision: string }>(REVISION);
    return row?.revision ?? '';
  }

  async markUsed(ids: readonly string[]): Promise<void> {
    await this.database.query(TOUCH, [[...ids]]);
  }
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    boundUserId: row.user_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
