import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';

/** Turns that were counted into one piece of time. */
export interface TurnBucket {
  readonly at: Date;
  readonly turns: number;
  /** Failed or interrupted. */
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** In US dollars; null when nothing of it is priced. */
  readonly cost_usd: number | null;
}

/** What runs and waits at the moment. */
export interface TurnsNow {
  /** With those that wait for a person: their sessions are busy. */
  readonly running: number;
  readonly waiting: number;
}

/** The newest turns that one look reads: some 100 ms. */
const MOST_TURNS = 100_000;

/** `$1` since when, `$2` seconds of a bucket, whose borders are multiples of it since 1970. The last row says how far back it goes. */
const SERIES: Statement = {
  name: 'turn_series.buckets',
  replanned: true,
  text: `
    WITH newest AS (
      SELECT created_at, status, input_tokens, output_tokens, cost_usd FROM turns
      WHERE created_at >= $1 ORDER BY created_at DESC, id DESC LIMIT ${MOST_TURNS}
    )
    SELECT to_timestamp(floor(extract(epoch FROM created_at) / $2::float8) * $2::float8) AS at, count(*)::int AS turns,
      (count(*) FILTER (WHERE status IN ('failed', 'interrupted')))::int AS failed,
      sum(input_tokens)::float8 AS input_tokens, sum(output_tokens)::float8 AS output_tokens,
      sum(cost_usd)::float8 AS cost_usd, min(created_at) AS first
    FROM newest GROUP BY 1 ORDER BY 1`,
};

const NOW: Statement = {
  name: 'turn_series.now',
  replanned: true,
  text: `
    SELECT ((SELECT count(*) FROM turns WHERE status = 'running')
        + (SELECT count(*) FROM turns WHERE status = 'awaiting_approval'))::int AS running,
      (SELECT count(*) FROM turns WHERE status = 'waiting')::int AS waiting`,
};

/** How many turns there were over time, how they ended and what they cost; for plots. */
@Injectable()
export class TurnSeries {
  constructor(private readonly database: Database) {}

  /**
   * Buckets with turns in them, oldest first. Of more than 100,000 turns the newest are counted: `completeSince` is then
   * later than `since`.
   */
  async since(
    since: Date,
    bucketSecs: number,
  ): Promise<{ readonly buckets: readonly TurnBucket[]; readonly completeSince: Date }> {
    const rows = await this.database.query<TurnBucket & { first: Date }>(SERIES, [since, bucketSecs]);
    const counted = rows.reduce((sum, { turns }) => sum + turns, 0);
    const completeSince = counted < MOST_TURNS ? since : (rows[0]?.first ?? since);
    return { buckets: rows, completeSince };
  }

  async now(): Promise<TurnsNow> {
    const [now] = await this.database.query<{ running: number; waiting: number }>(NOW);
    return now ?? { running: 0, waiting: 0 };
  }
}
