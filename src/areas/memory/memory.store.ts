import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import type { FoundMemory, MemoryContext, MemoryEntry } from './memory.js';
import * as sql from './memory.sql.js';

interface EntryRow {
  id: string;
  content: string;
  created_at: Date;
}

interface FoundRow extends EntryRow {
  score: number;
}

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
    return (await this.database.query(sql.IS_PERSONAL, [sessionId, userId])).length > 0;
  }

  /** The best matches first, at most `most`. */
  async recall(
    { sessionId, userId }: MemoryContext,
    words: readonly string[],
    most: number,
  ): Promise<FoundMemory[]> {
    const values = [sessionId, userId, markOf(userId), words, most];
    const rows = await this.database.query<FoundRow>(sql.RECALL, values);
    return rows.map((row) => ({ ...entryOf(row), score: row.score }));
  }

  /** Stores content once a user. Undefined when the session is not one person's. */
  async store(
    { sessionId, userId }: MemoryContext,
    content: string,
    words: readonly string[],
  ): Promise<{ id: string; isNew: boolean } | undefined> {
    const digest = createHash('sha256').update(content).digest('hex');
    const values = [sessionId, userId, markOf(userId), words, newId('mem'), content, digest];
    const [row] = await this.database.query<{ id: string; fresh: boolean }>(sql.STORE, values);
    return row && { id: row.id, isNew: row.fresh };
  }

  /** Deletes the least recently used entries beyond `most`. @returns how many it deleted */
  async trim(userId: string, most: number): Promise<number> {
    return (await this.database.query(sql.TRIM, [userId, most])).length;
  }

  async forget({ sessionId, userId }: MemoryContext, ids: readonly string[]): Promise<MemoryEntry[]> {
    return (await this.database.query<EntryRow>(sql.FORGET, [sessionId, userId, ids])).map(entryOf);
  }

  /** Deletes the entries that have every one of the words, at most 100. */
  async forgetFound({ sessionId, userId }: MemoryContext, words: readonly string[]): Promise<MemoryEntry[]> {
    const values = [sessionId, userId, markOf(userId), words, MAX_FORGOTTEN];
    return (await this.database.query<EntryRow>(sql.FORGET_FOUND, values)).map(entryOf);
  }

  /** Newest first; for operators. */
  async list(userId: string): Promise<MemoryEntry[]> {
    return (await this.database.query<EntryRow>(sql.LIST, [userId, MAX_LISTED])).map(entryOf);
  }

  /** Deletes all entries of a user; for operators. @returns how many it deleted */
  async forgetUser(runner: SqlRunner, userId: string): Promise<number> {
    return (await runner.query(sql.FORGET_USER, [userId])).length;
  }

  /** The number of entries of all users. */
  async count(): Promise<number> {
    const [row] = await this.database.query<{ entries: number }>(sql.COUNT);
    return row?.entries ?? 0;
  }
}

/** The prefix of every word of a user, so that one index of words keeps users apart. */
export function markOf(userId: string): string {
  return `${createHash('sha256').update(userId).digest('hex').slice(0, 16)}:`;
}

function entryOf({ id, content, created_at: createdAt }: EntryRow): MemoryEntry {
  return { id, content, createdAt };
}
