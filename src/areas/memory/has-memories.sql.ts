/** SQL condition: the user has memories. Reads one row, so that turns without memories skip the recall statement. */
export function hasMemories(userId: string): string {
  return `EXISTS (SELECT 1 FROM memory_users AS known WHERE known.user_id = ${userId} AND known.entries > 0)`;
}
