/** What others may use of memory: how much there is, and whether a user has any. */

export { Memory } from './memory.service.js';
export { hasMemories } from './memory.sql.js';
