import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/common/ids/typeid.js';
import { ADVISORY_LOCKS } from '../../src/platform/database/advisory-locks.js';
import type { BenchDatabase } from './database-server.js';

const PER_STATEMENT = 10_000;
const USAGE_PER_STATEMENT = 500_000;

/** Settings under which no seeded session goes idle during a run. */
export const NEVER_SILENT = {
  GATEWAY__AGENT__SESSION_IDLE_SECS: '31536000',
  GATEWAY__AGENT__SESSION_TIMEOUT_SECS: '31536000',
} as const;

/**
 * Stores sessions, one per second up to the start of this hour: of every ten six are active, two idle and two ended. A page deep
 * in the list costs more the later it begins in its hour, so up to now, a figure would depend on the minute.
 * @returns their ids, oldest first
 */
export async function seedSessions(database: BenchDatabase, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('sess'));
  for (let from = 0; from < count; from += PER_STATEMENT) {
    await database.query(
      `INSERT INTO sessions (id, channel, user_id, status, metadata, created_at, ended_at)
       SELECT id, 'api', 'user-' || n % 1000, status, '{}', date_trunc('hour', now()) - make_interval(secs => $2 - n),
         CASE WHEN status = 'terminated' THEN now() END
       FROM (SELECT id, $3 + n AS n,
               CASE WHEN n % 10 < 6 THEN 'active' WHEN n % 10 < 8 THEN 'idle' ELSE 'terminated' END AS status
             FROM unnest($1::text[]) WITH ORDINALITY AS made (id, n)) AS numbered`,
      [ids.slice(from, from + PER_STATEMENT), count, from],
    );
  }
  return ids;
}

/**
 * Fills the history of one session.
 * @returns the ids of its messages, oldest first
 */
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

/**
 * Active sessions with a full context window, so that every turn costs the same from the first one on.
 * @returns their ids
 */
export async function seedTalks(database: BenchDatabase, count: number, messages: number): Promise<string[]> {
  const ids = await seedSessions(database, count * 2);
  const live = await database.query<{ id: string }>(
    `UPDATE sessions SET status = 'active', ended_at = NULL, message_count = $2 WHERE id = ANY ($1) RETURNING id`,
    [ids.slice(0, count), messages],
  );
  await database.query(
    `INSERT INTO messages (id, session_id, turn_id, seq, role, content)
     SELECT session_id || '_' || seq, session_id, 'turn', seq,
       CASE seq % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, 'What was said before.'
     FROM unnest($1::text[]) AS session_id, generate_series(1, $2) AS seq`,
    [live.map(({ id }) => id), messages],
  );
  return live.map(({ id }) => id);
}

/** Rows of the audit with their positions in the chain, one per second up to now. The hashes are made up. */
export async function seedAudit(database: BenchDatabase, count: number): Promise<void> {
  await database.query(`
    BEGIN;
    SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.sealingAudit});
    INSERT INTO audit_entries (happened_at, action, actor, address, target, outcome, session_id, details)
    SELECT now() - make_interval(secs => ${count} - n), 'tool.called_' || n % 10, 'user-' || n % 1000, '192.0.2.' || n % 256,
      'files__read_file', 'success', 'sess_' || n / 20, '{"by_token": "tok_4711", "server": "files", "took_ms": 17}'
    FROM generate_series(1, ${count}) AS n;
    DELETE FROM audit_unsealed;
    INSERT INTO audit_seals (sequence, entry_id, hash)
    SELECT coalesce((SELECT max(sequence) FROM audit_seals), 0) + row_number() OVER (ORDER BY id), id, sha256(id::text::bytea)
    FROM audit_entries AS e WHERE NOT EXISTS (SELECT 1 FROM audit_seals AS s WHERE s.entry_id = e.id);
    COMMIT`);
}

/**
 * The usage that turns write when they end, spread over days and users. Each user mostly uses one agent and one
 * token.
 */
export async function seedUsage(
  database: BenchDatabase,
  { turns, days, users }: { turns: number; days: number; users: number },
): Promise<void> {
  for (let from = 0; from < turns; from += USAGE_PER_STATEMENT)
    await database.query(
      `INSERT INTO usage_entries (day, agent, user_id, api_token, provider, model, channel, turns, input_tokens,
         cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, unpriced_tokens, cost_usd)
       SELECT (now() AT TIME ZONE 'UTC')::date - (n / $4 % $3)::int, 'agent-' || person % 5, 'user-' || person, 'token-' || person % 20,
         CASE WHEN n % 7 = 0 THEN 'backup' ELSE 'default' END, 'model-' || person % 4,
         CASE person % 3 WHEN 0 THEN 'api' WHEN 1 THEN 'slack' ELSE 'telegram' END, 1, 2000, 1500, 100, 300, 50, 0, 0.0123
       FROM (SELECT n, (n::bigint * 7919 % $4)::int AS person FROM generate_series($1::int, $2::int - 1) AS n) AS numbered`,
      [from, Math.min(turns, from + USAGE_PER_STATEMENT), days, users],
    );
}

/** Waits until a gateway has added all entries to its totals per day. */
export async function waitForTotals(database: BenchDatabase): Promise<void> {
  for (;;) {
    const [left] = await database.query('SELECT 1 FROM usage_entries LIMIT 1');
    if (left === undefined) return;
    await sleep(250);
  }
}

/** What autovacuum would have done in a database that has existed for a while. */
export async function vacuum(database: BenchDatabase): Promise<void> {
  await database.query('VACUUM ANALYZE');
  await database.query('CHECKPOINT');
}
