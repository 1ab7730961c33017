import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import type { RowOfStatement } from '../../platform/database/statement.js';
import type { FoundMemory, MemoryContext, MemoryEntry } from './memory.js';
import * as sql from './memory.sql.js';

/** The upper bound of `memory.max_entries_per_user`. */
const MAX_LISTED = 1_000_000;
/** Most entries that one call deletes by words. */
const MAX_FORGOTTEN = 100;

/** Reads and writes memories. Methods that take a context do nothing when its session is not one person's. */
@Injectable()
export class MemoryStore {
  constructor(private readonly database: Database) {}

  /** Whether the session was created for this user and no one else writes in it. */
  async isPersonal({ sessionId, userId }: MemoryContext): Promise<boolean> {
    return (await this.database.query(sql.IS_PERSONAL, { session: sessionId, user: userId })).length > 0;
  }

  /** The best matches first, at most `most`. */
  async recall(
    { sessionId, userId }: MemoryContext,
    words: readonly string[],
    most: number,
  ): Promise<FoundMemory[]> {
    const rows = await this.database.query(sql.RECALL, {
      ...{ session: sessionId, user: userId, mark: markOf(userId) },
      ...{ words, most },
    });
    return rows.map((row) => ({ ...entryOf(row), score: row.score }));
  }

  /** Stores content once a user. Undefined when the session is not one person's. */
  async store(
    { sessionId, userId }: MemoryContext,
    content: string,
    words: readonly string[],
  ): Promise<{ id: string; isNew: boolean } | undefined> {
    const digest = createHash('sha256').update(content).digest('hex');
    const [row] = await this.database.query(sql.STORE, {
      ...{ session: sessionId, user: userId, mark: markOf(userId) },
      ...{ words, id: newId('mem'), content, digest },
    });
    return row && { id: row.id, isNew: row.fresh };
  }

  /** Deletes the least recently used entries beyond `most`. @returns how many it deleted */
  async trim(userId: string, most: number): Promise<number> {
    const [over] = await this.database.query(sql.IS_OVER, { user: userId, most });
    if (over === undefined) return 0;
    return this.database.transaction(async (runner) => {
      await runner.query(sql.LOCK_TRIM, { user: userId });
      return (await runner.query(sql.TRIM, { user: userId, most })).length;
    });
  }

  async forget({ sessionId, userId }: MemoryContext, ids: readonly string[]): Promise<MemoryEntry[]> {
    return (await this.database.query(sql.FORGET, { session: sessionId, user: userId, ids })).map(entryOf);
  }

  /** Deletes the entries that have every one of the words, at most 100. */
  async forgetFound({ sessionId, userId }: MemoryContext, words: readonly string[]): Promise<MemoryEntry[]> {
    const found = await this.database.query(sql.FORGET_FOUND, {
      ...{ session: sessionId, user: userId, mark: markOf(userId) },
      ...{ words, most: MAX_FORGOTTEN },
    });
    return found.map(entryOf);
  }

  /** Newest first; for operators. */
  async list(userId: string): Promise<MemoryEntry[]> {
    return (await this.database.query(sql.LIST, { user: userId, most: MAX_LISTED })).map(entryOf);
  }

  /** Deletes all entries of a user; for operators. @returns how many it deleted */
  async forgetUser(runner: SqlRunner, userId: string): Promise<number> {
    return (await runner.query(sql.FORGET_USER, { user: userId })).length;
  }

  /** The number of entries of all users. */
  async count(): Promise<number> {
    const [row] = await this.database.query(sql.COUNT);
    return row?.entries ?? 0;
  }
}

/** The prefix of every word of a user, so that one index of words keeps users apart. */
export function markOf(userId: string): string {
  return `${createHash('sha256').update(userId).digest('hex').slice(0, 16)}:`;
}

function entryOf({ id, content, created_at: createdAt }: RowOfStatement<typeof sql.LIST>): MemoryEntry {
  return { id, content, createdAt };
}
