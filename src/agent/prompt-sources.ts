import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../logs/logger.js';
import type { ToolContext } from './tool-catalog.port.js';

/** What a user has just written, and where. */
export interface PromptQuestion {
  readonly context: ToolContext;
  readonly content: string;
}

/** Something that has to say in the system prompt of a turn. */
export interface PromptSource {
  /** For the log. */
  readonly name: string;
  /** Undefined or empty when there is nothing to say. The signal is aborted when nobody waits any longer. */
  additionFor(question: PromptQuestion, signal: AbortSignal): Promise<string | undefined>;
}

const LONGEST_MS = 2000;
const MOST_BYTES = 262_144;

/** Whoever adds to the system prompt. None of them can hold up a turn or end it. */
@Injectable()
export class PromptSources {
  private readonly sources: PromptSource[] = [];
  private readonly logger: Logger;

  constructor(logs: Logs) {
    this.logger = logs.for('agent::prompt');
  }

  add(source: PromptSource): void {
    this.sources.push(source);
  }

  /**
   * What there is to say, in the order in which the sources were added. One that fails, is late or says too much is left
   * out and logged. Throws the reason of an aborted signal.
   */
  async additions(question: PromptQuestion, signal: AbortSignal): Promise<readonly string[]> {
    if (this.sources.length === 0) return [];
    const texts = await Promise.all(this.sources.map((source) => this.ask(source, question, signal)));
    signal.throwIfAborted();
    return texts.filter((text) => text !== undefined && text !== '') as string[];
  }

  private async ask(
    source: PromptSource,
    question: PromptQuestion,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`nothing within ${LONGEST_MS} ms`)), LONGEST_MS);
    const either = AbortSignal.any([signal, late.signal]);
    try {
      const text = await Promise.race([source.additionFor(question, either), rejectionOf(either)]);
      if (text !== undefined && Buffer.byteLength(text) > MOST_BYTES)
        throw new Error(`more than ${MOST_BYTES} bytes`);
      return text;
    } catch (error) {
      if (!signal.aborted) this.leaveOut(source, error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  private leaveOut({ name }: PromptSource, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.logger.warn('something was left out of a system prompt', { source: name, reason });
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
