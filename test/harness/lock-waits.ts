import type { TestDatabase } from './database.js';
import { eventually } from './eventually.js';

/** Resolves when exactly `count` statements on this database wait for a lock that somebody else holds. */
export async function lockWaits(
  database: Pick<TestDatabase, 'query'>,
  count: number,
  timeoutMs?: number,
): Promise<void> {
  await eventually(async () => {
    const waiting = await database.query<{ query: string }>(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect(waiting).toHaveLength(count);
  }, timeoutMs);
}
