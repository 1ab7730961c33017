import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { double, integer, nullable, type RowOf, timestamp } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';

/** Turns that were counted into one interval. */
const BUCKET_ROW = {
  ...{ at: timestamp, turns: integer },
  /** Failed or interrupted. */
  failed: integer,
  ...{ input_tokens: double, output_tokens: double },
  /** In US dollars; null when no price is known. */
  cost_usd: nullable(double),
};
export type TurnBucket = RowOf<typeof BUCKET_ROW>;

/** What runs and waits at the moment. */
export interface TurnsNow {
  /** Includes turns that wait for a person: their sessions are busy. */
  readonly running: number;
  readonly waiting: number;
}

/** How many of the newest turns one query reads: takes some 100 ms. */
const MOST_TURNS = 100_000;

/** Buckets begin at multiples of their length since 1970. The first row says how far back the data goes. */
const SERIES = statement({
  name: 'turn_series.buckets',
  params: { since: timestamp, bucketSecs: double },
  row: { ...BUCKET_ROW, first: timestamp },
  replanned: true,
  sql: `
    WITH newest AS (
      SELECT created_at, status, input_tokens, output_tokens, cost_usd FROM turns
      WHERE created_at >= :since ORDER BY created_at DESC, id DESC LIMIT ${MOST_TURNS}
    )
    SELECT to_timestamp(floor(extract(epoch FROM created_at) / :bucketSecs::float8) * :bucketSecs::float8) AS at, count(*)::int AS turns,
      (count(*) FILTER (WHERE status IN ('failed', 'interrupted')))::int AS failed,
      sum(input_tokens)::float8 AS input_tokens, sum(output_tokens)::float8 AS output_tokens,
      sum(cost_usd)::float8 AS cost_usd, min(created_at) AS first
    FROM newest GROUP BY 1 ORDER BY 1`,
});

const NOW = statement({
  name: 'turn_series.now',
  params: {},
  row: { running: integer, waiting: integer },
  replanned: true,
  sql: `
    SELECT ((SELECT count(*) FROM turns WHERE status = 'running')
        + (SELECT count(*) FROM turns WHERE status = 'awaiting_approval'))::int AS running,
      (SELECT count(*) FROM turns WHERE status = 'waiting')::int AS waiting`,
});

/** How many turns there were over time, how they ended and what they cost; for plots. */
@Injectable()
export class TurnSeries {
  constructor(private readonly database: Database) {}

  /**
   * Buckets that have turns, oldest first. Of more than 100,000 turns the newest are counted: `completeSince` is then
   * later than `since`.
   */
  async since(
    since: Date,
    bucketSecs: number,
  ): Promise<{ readonly buckets: readonly TurnBucket[]; readonly completeSince: Date }> {
    const rows = await this.database.query(SERIES, { since, bucketSecs });
    const counted = rows.reduce((sum, { turns }) => sum + turns, 0);
    const completeSince = counted < MOST_TURNS ? since : (rows[0]?.first ?? since);
    return { buckets: rows, completeSince };
  }

  async now(): Promise<TurnsNow> {
    const [now] = await this.database.query(NOW);
    return now ?? { running: 0, waiting: 0 };
  }
}
