import { Injectable } from '@nestjs/common';
import { originJson } from '../audit-log/audit-log.js';
import { Database } from '../database/database.js';
import type { SqlRunner } from '../database/sql.js';
import type { RowOfStatement } from '../database/statement.js';
import type { ApiToken } from './api-token.js';
import * as sql from './token.sql.js';

/** The statements of API tokens. */
@Injectable()
export class TokenStore {
  constructor(private readonly database: Database) {}

  /** Undefined when a token with the same hash exists already. */
  async insert(
    token: ApiToken,
    sha256: Buffer,
    runner: SqlRunner = this.database,
  ): Promise<ApiToken | undefined> {
    const [row] = await runner.query(sql.INSERT, paramsOf(token, sha256));
    return row && toToken(row);
  }

  /**
   * Makes it the current token of GATEWAY_BOOTSTRAP_TOKEN. Undefined when it was set before or is revoked; then nothing
   * changes.
   */
  async install(token: ApiToken, sha256: Buffer, runner: SqlRunner): Promise<ApiToken | undefined> {
    const [row] = await runner.query(sql.INSTALL, paramsOf(token, sha256));
    return row && toToken(row);
  }

  /** The current token of GATEWAY_BOOTSTRAP_TOKEN. Undefined when it is revoked. */
  async bootstrapInForce(runner: SqlRunner): Promise<ApiToken | undefined> {
    const [row] = await runner.query(sql.BOOTSTRAP_IN_FORCE);
    return row && toToken(row);
  }

  /**
   * Revokes the tokens that GATEWAY_BOOTSTRAP_TOKEN set before the newest one.
   * @returns those that were not yet revoked
   */
  async revokeReplaced(runner: SqlRunner): Promise<ApiToken[]> {
    return (await runner.query(sql.REVOKE_REPLACED, { origin: originJson() })).map(toToken);
  }

  /** Those of these families whose tokens are all revoked; unknown families are left out. */
  async endedAmong(
    familyIds: readonly string[],
    runner: SqlRunner = this.database,
  ): Promise<ReadonlySet<string>> {
    const rows = await runner.query(sql.ENDED_FAMILIES, { families: familyIds });
    return new Set(rows.map(({ family }) => family));
  }

  async findUnrevokedByHash(sha256: Buffer): Promise<ApiToken | undefined> {
    const [row] = await this.database.query(sql.FIND_BY_HASH, { sha256 });
    return row && toToken(row);
  }

  /** Whether a token with this hash exists and is not revoked. */
  async isInForce(sha256: Buffer, runner: SqlRunner): Promise<boolean> {
    return (await runner.query(sql.FIND_BY_HASH, { sha256 })).length > 0;
  }

  async list(): Promise<ApiToken[]> {
    return (await this.database.query(sql.LIST)).map(toToken);
  }

  /** Newest first, including revoked ones; those after this time and id. */
  async page([at, id]: readonly [at: string, id: string], most: number): Promise<ApiToken[]> {
    return (await this.database.query(sql.PAGE, { at, id, most })).map(toToken);
  }

  /** Unrevoked tokens that have this id or this name. */
  async findNamed(idOrName: string): Promise<ApiToken[]> {
    return (await this.database.query(sql.FIND_NAMED, { wanted: idOrName })).map(toToken);
  }

  /** Revokes a token, and those that it replaced. Undefined when it is already revoked. */
  async revoke(id: string, runner: SqlRunner): Promise<ApiToken | undefined> {
    const rows = await runner.query(sql.REVOKE, { id, origin: originJson() });
    const row = rows.find((one) => one.id === id);
    return row && toToken(row);
  }

  /** Lets it expire after so many seconds, unless it expires earlier anyway. Undefined when it is already revoked. */
  async endWithin(
    id: string,
    secs: number,
    runner: SqlRunner = this.database,
  ): Promise<ApiToken | undefined> {
    const [row] = await runner.query(sql.END_WITHIN, { id, secs, origin: originJson() });
    return row && toToken(row);
  }

  /** When an unrevoked token expires, null for never; undefined for any other token. */
  async expiryOf(id: string, runner: SqlRunner): Promise<Date | null | undefined> {
    const [row] = await runner.query(sql.EXPIRY, { id });
    return row?.expires_at;
  }

  /** Whether any token has this name, or had it. */
  async isNameKnown(name: string, runner: SqlRunner): Promise<boolean> {
    const [row] = await runner.query(sql.NAME_IS_KNOWN, { name });
    return row?.any === true;
  }

  async hasAny(runner: SqlRunner): Promise<boolean> {
    const [row] = await runner.query(sql.HAS_ANY);
    return row?.any === true;
  }

  /** Until the transaction ends, no one else can make, rotate or revoke tokens. Call it before any row is locked. */
  async holdChanges(runner: SqlRunner): Promise<void> {
    await runner.query(sql.HOLD_CHANGES);
  }

  /** Whether a token of this family was made by the other family, or by something that it made. */
  async isMadeBy(familyId: string, makerFamily: string, runner: SqlRunner = this.database): Promise<boolean> {
    return (await runner.query(sql.IS_MADE_BY, { family: familyId, maker: makerFamily })).length > 0;
  }

  /** Until the transaction ends no one else can write tokens; they can be read. */
  async holdCreation(runner: SqlRunner): Promise<void> {
    await runner.query(sql.HOLD_CREATION);
  }

  /** Both change with every change to any token, except its last use, and with every denial of an identity. */
  async revisions(): Promise<{ readonly tokens: string; readonly denials: string }> {
    const [row] = await this.database.query(sql.REVISIONS);
    return { tokens: row?.tokens ?? '', denials: row?.denials ?? '' };
  }

  async markUsed(ids: readonly string[]): Promise<void> {
    await this.database.query(sql.MARK_USED, { ids });
  }
}

function paramsOf(token: ApiToken, sha256: Buffer) {
  const { id, name, scopes, boundUserId, expiresAt, familyId, bootstrapAt, agents, maker } = token;
  return {
    ...{ id, name, sha256, scopes, user: boundUserId, expires: expiresAt, bootstrapped: bootstrapAt },
    family: familyId === id ? null : familyId,
    agents: agents === null ? null : JSON.stringify(agents),
    ...{ makerFamily: maker?.family ?? null, makerCredential: maker?.credential ?? null },
    origin: originJson(),
  };
}

function toToken(row: RowOfStatement<typeof sql.LIST>): ApiToken {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    boundUserId: row.user_id,
    agents: row.agents,
    familyId: row.family_id,
    maker: row.maker_family === null ? null : { family: row.maker_family, credential: row.maker_credential },
    bootstrapAt: row.bootstrap_at,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
