/** A fact that is remembered about a user. */
export interface MemoryEntry {
  readonly id: string;
  readonly content: string;
  readonly createdAt: Date;
}

export interface FoundMemory extends MemoryEntry {
  /** Above 0 when it shares words with the query; 0 for an entry that is only recent. */
  readonly score: number;
}

/** The user whose memory it is, and the session that asks. */
export interface MemoryContext {
  readonly userId: string;
  readonly sessionId: string;
}

// Errors whose message the model reads.

export class NotPersonal extends Error {
  constructor() {
    super('This session has no memory: it was created without a user_id, or several people take part in it.');
  }
}

export class NothingToRemember extends Error {
  constructor() {
    super('The content is empty.');
  }
}

export class ContentTooLong extends Error {
  constructor(bytes: number, most: number) {
    super(
      `The content has ${bytes} bytes, and at most ${most} can be stored. Shorten it, or store it in parts.`,
    );
  }
}

export class NoSearchTerms extends Error {
  constructor() {
    super('The query has no searchable words. Use ids instead.');
  }
}
