/** Something that a user wanted to be remembered, or a model on their behalf. */
export interface MemoryEntry {
  readonly id: string;
  readonly content: string;
  readonly createdAt: Date;
}

export interface FoundMemory extends MemoryEntry {
  /** Above 0 when it has words that were asked for; 0 for one that is only new. */
  readonly score: number;
}

/** On whose behalf, and in which session. */
export interface MemoryContext {
  readonly userId: string;
  readonly sessionId: string;
}
