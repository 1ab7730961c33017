import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { columnsOf } from '../database/entity-columns.js';
import { arrayOf, double, integer, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import type { GatewaySettings } from '../settings/settings.schema.js';
import { RateBucketEntity } from './rate-bucket.entity.js';
import { BUCKET_MS } from './rate-limiter.port.js';

/** Requests that wait for tokens of one bucket. */
export interface BucketRequest {
  readonly key: string;
  readonly limitPerSecond: number;
  readonly tokens: number;
}

export interface BucketGrant {
  /** How many of the requested tokens. */
  readonly granted: number;
  /** Milliseconds until the bucket is full again, after what was granted. */
  readonly fullInMs: number;
}

/** After this time the limiter decides without the database. */
const TIMEOUT_MS = 1000;
/** A bucket that has been full for this long is like one that was never used. */
const FORGET_AFTER_MS = 10_000;
const MAX_FORGOTTEN = 5000;

const NOW_MS = `extract(epoch FROM clock_timestamp())::float8 * 1000`;

/**
 * GCRA for many buckets at once. Rows are locked in a fixed order, so that two replicas cannot deadlock. The clock is read
 * when a row's lock is held: by an older time, what another replica took meanwhile would come back. A bucket is never
 * further from full than its size, so that a database clock that was set back locks no one out.
 */
const CONSUME = statement({
  name: 'rate_limits.consume',
  timeoutMs: TIMEOUT_MS,
  params: { keys: arrayOf(text), tokens: arrayOf(integer), limits: arrayOf(integer) },
  row: { ...columnsOf(RateBucketEntity, 'key', 'granted'), full_in_ms: double },
  sql: `
    WITH requests AS (
      SELECT key, least(tokens, per_second) AS tokens, ${BUCKET_MS}::float8 / per_second AS token_ms
      FROM unnest(:keys::text[], :tokens::int[], :limits::int[]) AS request (key, tokens, per_second)
    )
    INSERT INTO rate_buckets AS bucket (key, full_at_ms, token_ms, granted)
    SELECT key, ${NOW_MS} + tokens * token_ms, token_ms, tokens FROM requests ORDER BY key
    ON CONFLICT (key) DO UPDATE SET (full_at_ms, token_ms, granted) = (
      SELECT used_until + tokens * excluded.token_ms, excluded.token_ms, tokens
      FROM (
        SELECT used_until,
          least(excluded.granted, floor((now_ms + ${BUCKET_MS} - used_until) / excluded.token_ms + 1e-6)) AS tokens
        FROM (
          SELECT now_ms, least(greatest(full_at_ms, now_ms), now_ms + ${BUCKET_MS}) AS used_until
          FROM (SELECT bucket.full_at_ms, ${NOW_MS} AS now_ms) AS locked
        ) AS at
      ) AS taken
    )
    RETURNING key, granted, full_at_ms - ${NOW_MS} AS full_in_ms`,
});
const FORGET = statement({
  name: 'rate_limits.forget',
  params: {},
  row: { forgotten: integer },
  sql: `
    WITH gone AS (
      DELETE FROM rate_buckets WHERE key IN (
        SELECT key FROM rate_buckets WHERE full_at_ms < ${NOW_MS} - ${FORGET_AFTER_MS}
        LIMIT ${MAX_FORGOTTEN} FOR UPDATE SKIP LOCKED
      ) RETURNING 1
    )
    SELECT count(*)::int AS forgotten FROM gone`,
});

/** The statements of the buckets that all replicas share. */
@Injectable()
export class RateBucketStore {
  constructor(private readonly database: Database) {}

  /**
   * What each bucket grants, by key; no key twice. Throws `Unavailable` when the database does not answer within a
   * second.
   */
  async consume(requests: readonly BucketRequest[]): Promise<Map<string, BucketGrant>> {
    const rows = await this.database.query(CONSUME, {
      keys: requests.map(({ key }) => key),
      tokens: requests.map(({ tokens }) => tokens),
      limits: requests.map(({ limitPerSecond }) => limitPerSecond),
    });
    return new Map(rows.map(({ key, granted, full_in_ms: fullInMs }) => [key, { granted, fullInMs }]));
  }

  /** @returns whether there may be more to delete */
  async forgetFull(): Promise<boolean> {
    const [row] = await this.database.query(FORGET);
    return row?.forgotten === MAX_FORGOTTEN;
  }
}

/** Whether the buckets are rows that all replicas share. */
export function sharesRateLimits({ rate_limits, database }: GatewaySettings): boolean {
  const { store } = rate_limits;
  return store === 'postgres' || (store === 'auto' && database.url !== '');
}
