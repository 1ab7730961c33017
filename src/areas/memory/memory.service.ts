import { Injectable } from '@nestjs/common';
import { InjectMetric, makeHistogramProvider } from '@willsoto/nestjs-prometheus';
import type { Histogram } from 'prom-client';
import { storableText } from '../../platform/database/storable-text.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import {
  ContentTooLong,
  type FoundMemory,
  type MemoryContext,
  type MemoryEntry,
  NoSearchTerms,
  NothingToRemember,
  NotPersonal,
} from './memory.js';
import { MemoryStore } from './memory.store.js';
import { indexTerms, searchTerms } from './terms.js';

export const MAX_CONTENT_BYTES = 4096;
/** Of a longer text, only this many characters at its start and at its end are searched for words. */
const SEARCHED_CHARACTERS = 2000;
const RECALL_DURATION = 'agent_gateway_memory_recall_duration_seconds';

export interface Stored {
  readonly id: string;
  /** False when the same content was stored before. */
  readonly isNew: boolean;
}

/** What the gateway remembers about users across sessions (docs/memory.md). No user's memories reach another user. */
@Injectable()
export class Memory {
  static readonly metric = makeHistogramProvider({
    name: RECALL_DURATION,
    help: 'Duration of recalling memories, before a turn and by the tool.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  });

  private readonly logger: Logger;

  constructor(
    private readonly store: MemoryStore,
    private readonly settings: Settings,
    @InjectMetric(RECALL_DURATION) private readonly duration: Histogram,
    logs: Logs,
  ) {
    this.logger = logs.for('memory');
  }

  get backend(): 'postgres' | 'none' {
    return this.settings.current.memory.backend;
  }

  get isOn(): boolean {
    return this.backend === 'postgres';
  }

  /** The number of entries of all users; 0 while memory is off. */
  entries(): Promise<number> {
    return this.isOn ? this.store.count() : Promise.resolve(0);
  }

  /** Entries that share the rarest words with the question, then the newest. Empty when the session is not one person's. */
  async recall(context: MemoryContext, question: string, most: number): Promise<FoundMemory[]> {
    const end = this.duration.startTimer();
    try {
      return await this.store.recall(context, searchTerms(shortened(question)), most);
    } finally {
      end();
    }
  }

  /** Throws `NothingToRemember`, `ContentTooLong` and `NotPersonal`. */
  async remember(context: MemoryContext, text: string): Promise<Stored> {
    const content = storableText(text).trim();
    if (content === '') throw new NothingToRemember();
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_CONTENT_BYTES) throw new ContentTooLong(bytes, MAX_CONTENT_BYTES);
    const stored = await this.store.store(context, content, indexTerms(content));
    if (stored === undefined) throw new NotPersonal();
    if (stored.isNew) await this.trim(context);
    return stored;
  }

  /** Deletes entries by id; ids of other users are ignored. @returns the deleted entries */
  forget(context: MemoryContext, ids: readonly string[]): Promise<MemoryEntry[]> {
    return this.store.forget(context, ids);
  }

  /** Deletes the entries that have every word of the text, at most 100. Throws `NoSearchTerms`. @returns the deleted entries */
  forgetAbout(context: MemoryContext, text: string): Promise<MemoryEntry[]> {
    const words = searchTerms(shortened(text));
    if (words.length === 0) throw new NoSearchTerms();
    return this.store.forgetFound(context, words);
  }

  /** Throws `NotPersonal` when the session is not one person's. */
  async refuseShared(context: MemoryContext): Promise<void> {
    if (!(await this.store.isPersonal(context))) throw new NotPersonal();
  }

  private async trim({ userId, sessionId }: MemoryContext): Promise<void> {
    const most = this.settings.current.memory.max_entries_per_user;
    const gone = await this.store.trim(userId, most);
    if (gone === 0) return;
    this.logger.info('a user has too many memories; the least recently used were deleted', {
      ...{ session_id: sessionId, deleted: gone, most },
    });
  }
}

function shortened(text: string): string {
  if (text.length <= 2 * SEARCHED_CHARACTERS) return text;
  return `${text.slice(0, SEARCHED_CHARACTERS)} ${text.slice(-SEARCHED_CHARACTERS)}`;
}
