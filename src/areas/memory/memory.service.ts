import { Injectable } from '@nestjs/common';
import { InjectMetric, makeHistogramProvider } from '@willsoto/nestjs-prometheus';
import type { Histogram } from 'prom-client';
import { storableText } from '../../platform/database/storable-text.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import { ContentTooLong, NoSearchTerms, NothingToRemember, NotPersonal } from './memory.errors.js';
import type { FoundMemory, MemoryContext, MemoryEntry } from './memory.js';
import { MemoryStore } from './memory.store.js';
import { indexTerms, searchTerms } from './terms.js';

export const MAX_CONTENT_BYTES = 4096;
/** Of a long message its beginning and its end say what it is about. */
const HALF_QUESTION = 2000;
const RECALL_DURATION = 'agent_gateway_memory_recall_duration_seconds';

export interface Stored {
  readonly id: string;
  /** False when the same was remembered before. */
  readonly isNew: boolean;
}

/** What the gateway remembers of users from one session to the next. Nothing of one user reaches another. */
@Injectable()
export class Memory {
  static readonly metric = makeHistogramProvider({
    name: RECALL_DURATION,
    help: 'Time of recalling memories, before a turn and by the tool.',
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

  /** Entries of all users, as they are now. */
  entries(): Promise<number> {
    return this.isOn ? this.store.count() : Promise.resolve(0);
  }

  /** Those with the rarest words of the question first, then the newest. None where the session is not one person's. */
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

  /** By id. Ids that are not this user's are no ids. */
  forget(context: MemoryContext, ids: readonly string[]): Promise<MemoryEntry[]> {
    return this.store.forget(context, ids);
  }

  /** What has every word of the text. Throws `NoSearchTerms` for one that says nothing. */
  forgetAbout(context: MemoryContext, text: string): Promise<MemoryEntry[]> {
    const words = searchTerms(shortened(text));
    if (words.length === 0) throw new NoSearchTerms();
    return this.store.forgetFound(context, words);
  }

  /** Throws `NotPersonal`. */
  async refuseShared(context: MemoryContext): Promise<void> {
    if (!(await this.store.isPersonal(context))) throw new NotPersonal();
  }

  private async trim({ userId, sessionId }: MemoryContext): Promise<void> {
    const most = this.settings.current.memory.max_entries_per_user;
    const gone = await this.store.trim(userId, most);
    if (gone === 0) return;
    this.logger.info('memories that were not used for longest were given up', {
      ...{ session_id: sessionId, given_up: gone, most },
    });
  }
}

function shortened(text: string): string {
  if (text.length <= 2 * HALF_QUESTION) return text;
  return `${text.slice(0, HALF_QUESTION)} ${text.slice(-HALF_QUESTION)}`;
}
