import { newId } from '../../src/common/ids/typeid.js';
import type { BenchDatabase } from './database-server.js';

const PER_STATEMENT = 10_000;

/** Settings under which nothing that is seeded goes silent while it is measured. */
export const NEVER_SILENT = {
  GATEWAY__AGENT__SESSION_IDLE_SECS: '31536000',
  GATEWAY__AGENT__SESSION_TIMEOUT_SECS: '31536000',
} as const;

/** Stores sessions, of every ten six active, two idle and two ended, one a second up to now. @returns their ids, oldest first */
export async function seedSessions(database: BenchDatabase, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('sess'));
  for (let from = 0; from < count; from += PER_STATEMENT) {
    await database.query(
      `INSERT INTO sessions (id, channel, user_id, status, metadata, created_at, ended_at)
       SELECT id, 'api', 'user-' || n % 1000, status, '{}', now() - make_interval(secs => $2 - n),
         CASE WHEN status = 'terminated' THEN now() END
       FROM (SELECT id, $3 + n AS n,
               CASE WHEN n % 10 < 6 THEN 'active' WHEN n % 10 < 8 THEN 'idle' ELSE 'terminated' END AS status
             FROM unnest($1::text[]) WITH ORDINALITY AS made (id, n)) AS numbered`,
      [ids.slice(from, from + PER_STATEMENT), count, from],
    );
  }
  return ids;
}

/** Fills one session's history. @returns the ids of its messages, oldest first */
export async function seedMessages(
  database: BenchDatabase,
  sessionId: string,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('msg'));
  for (let from = 0; from < count; from += PER_STATEMENT) {
    await database.query(
      `INSERT INTO messages (id, session_id, turn_id, seq, role, content)
       SELECT id, $2, 'turn_' || n / 2, n, CASE n % 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
         'Message ' || n || ' of a long talk, about as long as people''s messages are.'
       FROM (SELECT id, $3 + n AS n FROM unnest($1::text[]) WITH ORDINALITY AS made (id, n)) AS numbered`,
      [ids.slice(from, from + PER_STATEMENT), sessionId, from],
    );
  }
  await database.query('UPDATE sessions SET message_count = $2 WHERE id = $1', [sessionId, count]);
  return ids;
}

/** What a database that has lived for a while would have done by itself. */
export async function settle(database: BenchDatabase): Promise<void> {
  await database.query('VACUUM ANALYZE');
  await database.query('CHECKPOINT');
}
