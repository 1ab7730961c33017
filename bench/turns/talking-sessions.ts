import { seedTalks } from '../harness/seed.js';
import { HISTORY_MESSAGES, type Stage } from '../harness/stage.js';

/** Active sessions with a full context window, so that every turn costs the same from the first one on. */
export async function talkingSessions(stage: Stage, count: number): Promise<string[]> {
  const ids = await seedTalks(stage.database, count, HISTORY_MESSAGES);
  return ids.map((id) => `/api/v1/sessions/${id}/messages`);
}

/** Deletes the messages that were added since. */
export async function deleteNewMessages(stage: Stage, paths: readonly string[]): Promise<void> {
  const ids = paths.map((path) => path.split('/')[4] ?? '');
  await stage.database.query('DELETE FROM messages WHERE session_id = ANY ($1) AND seq > $2', [
    ids,
    HISTORY_MESSAGES,
  ]);
  await stage.database.query('UPDATE sessions SET message_count = $2 WHERE id = ANY ($1)', [
    ids,
    HISTORY_MESSAGES,
  ]);
}
