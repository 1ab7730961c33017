import type { Query } from '../own-database.js';
import type { Kept } from './kept.js';

export async function readKept(query: Query): Promise<Kept> {
  const settings = await query<{ key: string; value: unknown }>('SELECT key, value FROM config_overrides');
  return {
    sessions: await query(`
      SELECT id, user_id, status, turn_owner, message_count, turn_count,
        (input_tokens + output_tokens)::float8 AS tokens FROM sessions ORDER BY id`),
    messages: await query(`
      SELECT id, session_id, turn_id, seq, role, content, incomplete FROM messages ORDER BY session_id, seq`),
    turns: await query(`
      SELECT id, session_id, user_message_id, arrival::float8 AS arrival, status, reason, owner,
        extract(epoch FROM started_at)::float8 * 1000 AS started, extract(epoch FROM ended_at)::float8 * 1000 AS ended,
        (input_tokens + output_tokens)::float8 AS tokens,
        EXISTS (SELECT 1 FROM turn_steps WHERE turn_id = turns.id AND content::text LIKE '%Outcome unknown%') AS unknown_call,
        ARRAY(SELECT content->'result'->>'content' FROM turn_steps
          WHERE turn_id = turns.id AND kind = 'answered' ORDER BY number) AS told
      FROM turns ORDER BY arrival`),
    hooks: await query('SELECT id, url FROM hooks'),
    deliveries: await query(`
      SELECT d.hook_id, d.event_id, d.event, d.sequence::float8 AS sequence, d.status, d.attempts, e.data
      FROM hook_deliveries AS d JOIN events AS e ON e.id = d.event_id ORDER BY d.hook_id, d.sequence`),
    settings: new Map(settings.map(({ key, value }) => [key, value])),
  };
}
