import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../../platform/database/advisory-locks.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import {
  arrayOf,
  bigint,
  boolean,
  json,
  nullable,
  smallint,
  text,
} from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { CannotOpen, SecretBox } from '../../platform/secrets/secret-box.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';

/** A claim that has not been renewed for this long has lost its owner. */
export const CLAIM_SECS = 15;
const KEPT = `interval '24 hours'`;

/** A request under an Idempotency-Key. */
export interface PresentedKey {
  /** A hash of the token's family, method, path and key. */
  readonly scope: string;
  readonly tokenId: string;
  /** Method and route. */
  readonly operation: string;
  /** A hash of the rest of the request: profile, query, body. */
  readonly request: string;
}

/** How a request with an Idempotency-Key was served. */
export type KeyOutcome = 'first' | 'replayed' | 'refused';

export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or nothing. */
  readonly body: string | null;
}

/** The earlier request with a key. */
export interface FoundKey {
  readonly request: string;
  readonly turnId: string | null;
  readonly answer: StoredResponse | null;
  /** Whether its request is still being served. */
  readonly isHeld: boolean;
}

/** A response, absent while there is none. */
const RESPONSE = {
  status: nullable(smallint),
  headers: nullable(json<Record<string, string>>()),
  body: nullable(text),
};

/** Inserts nothing when the key is in use; a key older than a day counts as unused. */
const INSERT = statement({
  name: 'idempotency_keys.insert',
  params: {
    ...{
      scope: text,
      token: text,
      operation: text,
      request: text,
      turn: nullable(text),
      owner: nullable(text),
    },
    ...RESPONSE,
  },
  row: { scope: text },
  sql: `
    INSERT INTO idempotency_keys AS old
      (scope, token_id, operation, request, turn_id, owner, lease_until, status, headers, body)
    VALUES (:scope, :token, :operation, :request, :turn, :owner,
      CASE WHEN :owner::text IS NOT NULL THEN now() + interval '${CLAIM_SECS} seconds' END, :status, :headers, :body)
    ON CONFLICT (scope) DO UPDATE SET
      token_id = excluded.token_id, operation = excluded.operation, request = excluded.request,
      turn_id = excluded.turn_id, owner = excluded.owner, lease_until = excluded.lease_until,
      status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = now()
    WHERE old.created_at <= now() - ${KEPT}
    RETURNING scope`,
});
const FIND = statement({
  name: 'idempotency_keys.find',
  params: { scope: text },
  row: { ...columnsOf(IdempotencyKeyEntity, 'request', 'turnId'), ...RESPONSE, held: boolean },
  sql: `
    SELECT request, turn_id, status, headers, body, coalesce(lease_until > now(), false) AS held
    FROM idempotency_keys WHERE scope = :scope AND created_at > now() - ${KEPT}`,
});
const RECORD = statement({
  name: 'idempotency_keys.record',
  params: { scope: text, owner: text, ...RESPONSE },
  row: {},
  sql: `
    UPDATE idempotency_keys SET status = :status, headers = :headers, body = :body, owner = NULL, lease_until = NULL
    WHERE scope = :scope AND owner = :owner`,
});
const RELEASE = statement({
  name: 'idempotency_keys.release',
  params: { scope: text, owner: text },
  row: {},
  sql: `DELETE FROM idempotency_keys WHERE scope = :scope AND owner = :owner`,
});
const RENEW = statement({
  name: 'idempotency_keys.renew',
  params: { scopes: arrayOf(text), owner: text },
  row: { scope: text },
  sql: `
    UPDATE idempotency_keys SET lease_until = now() + interval '${CLAIM_SECS} seconds'
    WHERE scope = ANY (:scopes) AND owner = :owner RETURNING scope`,
});
const FORGET = statement({
  name: 'idempotency_keys.forget',
  params: { most: bigint },
  row: { scope: text },
  sql: `
    DELETE FROM idempotency_keys WHERE scope IN (
      SELECT scope FROM idempotency_keys
      WHERE (SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.forgettingKeys})) AND created_at <= now() - ${KEPT}
      ORDER BY created_at LIMIT :most FOR UPDATE SKIP LOCKED)
    RETURNING scope`,
});

type KeyRow = RowOfStatement<typeof FIND>;

/** The statements of Idempotency-Keys (docs/specification/additions.md, Idempotency-Key). */
@Injectable()
export class KeyStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    private readonly secrets: SecretBox,
  ) {}

  async find(scope: string): Promise<FoundKey | undefined> {
    const [row] = await this.database.query(FIND, { scope });
    return row && toFound({ ...row, ...this.opened(scope, row) });
  }

  /** Claims the key for this replica before anything is done. False when the key was used before. */
  claim(asked: PresentedKey): Promise<boolean> {
    return this.insert(this.database, asked, { owner: this.replica.value });
  }

  /** Stores a response in the transaction of its effect. False when the key was used before. */
  storeResponse(runner: SqlRunner, asked: PresentedKey, answer: StoredResponse): Promise<boolean> {
    return this.insert(runner, asked, { answer });
  }

  /** The same for a response that holds a secret. */
  storeSealed(
    runner: SqlRunner,
    asked: PresentedKey,
    answer: StoredResponse & { readonly body: string },
  ): Promise<boolean> {
    const body = this.secrets.seal(answer.body, sealedFor(asked.scope));
    return this.insert(runner, asked, { answer: { ...answer, body } });
  }

  /** The same for a turn, whose response is still to come. */
  storeTurn(runner: SqlRunner, asked: PresentedKey, turnId: string): Promise<boolean> {
    return this.insert(runner, asked, { turnId });
  }

  /** Stores the response of a claimed key. */
  async record({ scope }: PresentedKey, { status, headers, body }: StoredResponse): Promise<void> {
    await this.database.query(RECORD, {
      ...{ scope, owner: this.replica.value },
      ...{ status, headers: JSON.stringify(headers), body },
    });
  }

  /** The same, sealed: the response is what a conversation said that is stored nowhere else. */
  recordSealed(asked: PresentedKey, answer: StoredResponse & { readonly body: string }): Promise<void> {
    const body = this.secrets.seal(answer.body, sealedFor(asked.scope));
    return this.record(asked, { ...answer, body });
  }

  /** Releases a claim under which nothing was done. */
  async release({ scope }: PresentedKey): Promise<void> {
    await this.database.query(RELEASE, { scope, owner: this.replica.value });
  }

  /** @returns the scopes that this replica still claims */
  async renew(scopes: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query(RENEW, { scopes, owner: this.replica.value });
    return new Set(rows.map(({ scope }) => scope));
  }

  /** Removes keys older than a day, unless another replica is doing so. @returns how many */
  async forget(most: number): Promise<number> {
    return (await this.database.query(FORGET, { most })).length;
  }

  /** A response sealed under a key that is gone counts as one that was never stored. */
  private opened(scope: string, { status, body }: KeyRow): Pick<KeyRow, 'status' | 'body'> {
    if (!body?.startsWith(SEALED)) return { status, body };
    try {
      return { status, body: this.secrets.open(body, sealedFor(scope)) };
    } catch (error) {
      if (error instanceof CannotOpen) return { status: null, body: null };
      throw error;
    }
  }

  private async insert(
    runner: SqlRunner,
    { scope, tokenId, operation, request }: PresentedKey,
    { turnId, owner, answer }: { turnId?: string; owner?: string; answer?: StoredResponse },
  ): Promise<boolean> {
    const inserted = await runner.query(INSERT, {
      ...{ scope, token: tokenId, operation, request, turn: turnId ?? null, owner: owner ?? null },
      status: answer?.status ?? null,
      headers: answer === undefined ? null : JSON.stringify(answer.headers),
      body: answer?.body ?? null,
    });
    return inserted.length > 0;
  }
}

/** How a sealed body begins; any other is JSON. */
const SEALED = 'agw1:';

function sealedFor(scope: string): string {
  return `idempotency:${scope}`;
}

function toFound({ request, turn_id: turnId, status, headers, body, held }: KeyRow): FoundKey {
  const answer = status === null ? null : { status, headers: headers ?? {}, body };
  return { request, turnId, answer, isHeld: held };
}
