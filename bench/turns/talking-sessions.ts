import { seedTalks } from '../harness/seed.js';
import { HISTORY_MESSAGES, type Stage } from '../harness/stage.js';

/** Sessions with as much past as a model is given, so that every turn costs the same from the first. */
export async function talkingSessions(stage: Stage, count: number): Promise<string[]> {
  const ids = await seedTalks(stage.database, count, HISTORY_MESSAGES);
  return ids.map((id) => `/api/v1/sessions/${id}/messages`);
}

/** Takes back what was said since. */
export async function forgetTalk(stage: Stage, paths: readonly string[]): Promise<void> {
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
