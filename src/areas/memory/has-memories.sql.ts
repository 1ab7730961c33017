/** Whether anything is remembered of a user: one look at a row, where recalling would be a statement of its own. */
export function hasMemories(userId: string): string {
  return `EXISTS (SELECT 1 FROM memory_users AS known WHERE known.user_id = ${userId} AND known.entries > 0)`;
}
