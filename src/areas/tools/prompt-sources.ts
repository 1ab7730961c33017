import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import type { ToolContext } from './tool-catalog.port.js';

/** What a user has just written, and where. */
export interface PromptQuestion {
  readonly context: ToolContext;
  readonly content: string;
  /** Whether any memories of the user are stored. */
  readonly hasMemories: boolean;
}

/** What is added to the prompt of a turn; absent and empty parts add nothing. */
export interface PromptAddition {
  /** Ends the system prompt: the same for every message of a session, so that providers cache it. */
  readonly system?: string;
  /** Applies to this message only, and comes after the history. */
  readonly trailing?: string;
}

type Answer = PromptAddition | undefined;

/** How long a source may take. */
export interface PromptWait {
  /**
   * Aborted when nobody waits any longer. Created when a source first asks for it: most answer at once and never do.
   */
  readonly signal: AbortSignal;
}

/** Adds something to the prompt of a turn. */
export interface PromptSource {
  /** For the log. */
  readonly name: string;
  /** How long it may take, in milliseconds; 2,000 by default. */
  readonly maxMs?: number;
  /** Undefined when it has nothing to add. */
  additionFor(question: PromptQuestion, wait: PromptWait): Answer | Promise<Answer>;
}

/** The most that all sources together add, in the order in which they were registered. */
export interface PromptAdditions {
  readonly system: readonly string[];
  readonly trailing: readonly string[];
}

const MAX_MS = 2000;
const MAX_BYTES = 262_144;

/** The sources that add to the prompts of turns. None of them can hold up a turn or end it. */
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
   * What the sources add. A source that fails, is late or adds too much is left out and logged. Throws the reason of an
   * aborted signal.
   */
  async additions(question: PromptQuestion, signal: AbortSignal): Promise<PromptAdditions> {
    const given = this.sources.map((source) => this.ask(source, question, signal));
    const answers: readonly Answer[] = areHere(given)
      ? given
      : await Promise.all(given.map(async (answer) => answer));
    signal.throwIfAborted();
    const textsOf = (part: keyof PromptAddition) =>
      answers.map((answer) => answer?.[part] ?? '').filter(Boolean);
    return { system: textsOf('system'), trailing: textsOf('trailing') };
  }

  private ask(source: PromptSource, question: PromptQuestion, turn: AbortSignal): Answer | Promise<Answer> {
    const timeout = new SourceTimeout(turn, source.maxMs ?? MAX_MS);
    try {
      const given = source.additionFor(question, timeout);
      return given instanceof Promise ? this.waitFor(source, given, timeout) : bounded(given);
    } catch (error) {
      if (!turn.aborted) this.leaveOut(source, error);
      return undefined;
    }
  }

  private async waitFor(
    source: PromptSource,
    given: Promise<Answer>,
    timeout: SourceTimeout,
  ): Promise<Answer> {
    try {
      return bounded(await timeout.wait(given));
    } catch (error) {
      if (!timeout.isTurnOver) this.leaveOut(source, error);
      return undefined;
    } finally {
      timeout.end();
    }
  }

  private leaveOut({ name }: PromptSource, error: unknown): void {
    const reason = sentenceOf(error);
    this.logger.warn('a prompt source failed and was left out', { source: name, reason });
  }
}

function bounded(answer: Answer): Answer {
  if (answer === undefined) return undefined;
  const bytes = Buffer.byteLength(answer.system ?? '') + Buffer.byteLength(answer.trailing ?? '');
  if (bytes > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
  return answer;
}

/** Limits the time of one source. A source that answers at once needs no timer and no signal. */
class SourceTimeout implements PromptWait {
  private controller: AbortController | undefined;
  private readonly stop = (): void => this.abort(this.turn.reason);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly turn: AbortSignal,
    private readonly maxMs: number,
  ) {}

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  get isTurnOver(): boolean {
    return this.turn.aborted;
  }

  /** Rejects when it takes too long, and when the turn is over. */
  wait<Result>(given: Promise<Result>): Promise<Result> {
    this.start();
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(this.signal.reason as Error);
      if (this.signal.aborted) fail();
      else this.signal.addEventListener('abort', fail, { once: true });
      given.then(resolve, reject);
    });
  }

  end(): void {
    clearTimeout(this.timer);
    this.turn.removeEventListener('abort', this.stop);
  }

  private abort(reason: unknown): void {
    this.controller?.abort(reason);
  }

  private start(): void {
    if (this.timer !== undefined) return;
    const tooLate = (): void => this.abort(new Error(`nothing within ${this.maxMs} ms`));
    this.timer = setTimeout(tooLate, this.maxMs);
    if (this.turn.aborted) this.stop();
    else this.turn.addEventListener('abort', this.stop, { once: true });
  }
}

function areHere(given: readonly (Answer | Promise<Answer>)[]): given is readonly Answer[] {
  return !given.some((answer) => answer instanceof Promise);
}
