/** What others may use of memory: how much there is, and whether a user has any. */
export { hasMemories } from './has-memories.sql.js';
export { Memory } from './memory.service.js';
