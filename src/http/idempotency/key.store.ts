import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../../platform/database/advisory-locks.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner, Statement } from '../../platform/database/sql.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { CannotOpen, SecretBox } from '../../platform/secrets/secret-box.js';

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

interface KeyRow {
  request: string;
  turn_id: string | null;
  status: number | null;
  headers: Record<string, string> | null;
  body: string | null;
  held: boolean;
}

/** Inserts nothing when the key is in use; a key older than a day counts as unused. */
const INSERT: Statement = {
  name: 'idempotency_keys.insert',
  text: `
    INSERT INTO idempotency_keys AS old
      (scope, token_id, operation, request, turn_id, owner, lease_until, status, headers, body)
    VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $6::text IS NOT NULL THEN now() + interval '${CLAIM_SECS} seconds' END,
      $7, $8, $9)
    ON CONFLICT (scope) DO UPDATE SET
      token_id = excluded.token_id, operation = excluded.operation, request = excluded.request,
      turn_id = excluded.turn_id, owner = excluded.owner, lease_until = excluded.lease_until,
      status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = now()
    WHERE old.created_at <= now() - ${KEPT}
    RETURNING scope`,
};
const FIND: Statement = {
  name: 'idempotency_keys.find',
  text: `
    SELECT request, turn_id, status, headers, body, coalesce(lease_until > now(), false) AS held
    FROM idempotency_keys WHERE scope = $1 AND created_at > now() - ${KEPT}`,
};
const RECORD: Statement = {
  name: 'idempotency_keys.record',
  text: `
    UPDATE idempotency_keys SET status = $3, headers = $4, body = $5, owner = NULL, lease_until = NULL
    WHERE scope = $1 AND owner = $2`,
};
const RELEASE: Statement = {
  name: 'idempotency_keys.release',
  text: `DELETE FROM idempotency_keys WHERE scope = $1 AND owner = $2`,
};
const RENEW: Statement = {
  name: 'idempotency_keys.renew',
  text: `
    UPDATE idempotency_keys SET lease_until = now() + interval '${CLAIM_SECS} seconds'
    WHERE scope = ANY ($1) AND owner = $2 RETURNING scope`,
};
const FORGET: Statement = {
  name: 'idempotency_keys.forget',
  text: `
    DELETE FROM idempotency_keys WHERE scope IN (
      SELECT scope FROM idempotency_keys
      WHERE (SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.forgettingKeys})) AND created_at <= now() - ${KEPT}
      ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING scope`,
};

/** The statements of Idempotency-Keys (docs/specification/additions.md, Idempotency-Key). */
@Injectable()
export class KeyStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    private readonly secrets: SecretBox,
  ) {}

  async find(scope: string): Promise<FoundKey | undefined> {
    const [row] = await this.database.query<KeyRow>(FIND, [scope]);
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
    await this.database.query(RECORD, [scope, this.replica.value, status, JSON.stringify(headers), body]);
  }

  /** The same, sealed: the response is what a conversation said that is stored nowhere else. */
  recordSealed(asked: PresentedKey, answer: StoredResponse & { readonly body: string }): Promise<void> {
    const body = this.secrets.seal(answer.body, sealedFor(asked.scope));
    return this.record(asked, { ...answer, body });
  }

  /** Releases a claim under which nothing was done. */
  async release({ scope }: PresentedKey): Promise<void> {
    await this.database.query(RELEASE, [scope, this.replica.value]);
  }

  /** @returns the scopes that this replica still claims */
  async renew(scopes: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ scope: string }>(RENEW, [scopes, this.replica.value]);
    return new Set(rows.map(({ scope }) => scope));
  }

  /** Removes keys older than a day, unless another replica is doing so. @returns how many */
  async forget(most: number): Promise<number> {
    return (await this.database.query(FORGET, [most])).length;
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
    const facts = [scope, tokenId, operation, request, turnId ?? null, owner ?? null];
    const response = answer
      ? [answer.status, JSON.stringify(answer.headers), answer.body]
      : [null, null, null];
    return (await runner.query(INSERT, [...facts, ...response])).length > 0;
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
