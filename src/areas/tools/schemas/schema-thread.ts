import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { packageRoot } from '../../../common/package-root.js';
import type { JsonSchema } from './compiled-schemas.js';
import type { SchemaOrder, SchemaReport } from './schema-messages.js';

/** A thread always runs the built program, also when the gateway runs from its sources. */
const THREAD_PROGRAM = join(packageRoot(), 'dist', 'bundle', 'schema-thread.cjs');

/** A job for the thread: it compiles a schema, and then checks the value, if there is one. */
export interface SchemaJob {
  readonly key: string;
  readonly schema: JsonSchema;
  readonly check?: { readonly value: unknown };
}

export interface SchemaLimits {
  readonly compileMs: number;
  readonly checkMs: number;
}

export type SchemaAnswer =
  | { readonly kind: 'fits' }
  | { readonly kind: 'misfit'; readonly problem: string }
  /** The schema cannot be compiled. */
  | { readonly kind: 'broken'; readonly problem: string }
  | { readonly kind: 'late'; readonly at: 'compiling' | 'checking' };

const START_MS = 30_000;
const MAX_KEPT = 300;
const HEAP = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/**
 * A worker thread that compiles schemas and checks values. It does one job at a time; a job that exceeds its time or
 * memory limit ends the thread.
 */
export class SchemaThread {
  private readonly remembered = new Set<string>();
  /** Messages that nobody has waited for yet: at most the two reports of one order. */
  private readonly unheard: (SchemaReport | Error)[] = [];
  private onReport: () => void = () => undefined;
  private isOver = false;

  private constructor(private readonly worker: Worker) {
    worker.on('message', (report: SchemaReport) => this.settle(report));
    worker.on('error', (error) => this.settle(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => {
      this.isOver = true;
      this.settle(new Error('the thread has ended'));
    });
    worker.unref();
  }

  /** Resolves when it can take jobs. Throws when it does not start. */
  static async start(): Promise<SchemaThread> {
    const options = { resourceLimits: HEAP, env: {}, argv: [], execArgv: [] };
    const thread = new SchemaThread(new Worker(THREAD_PROGRAM, options));
    const started = await thread.report(START_MS);
    if (started !== undefined && !(started instanceof Error)) return thread;
    await thread.end();
    throw new Error(`The thread for schemas did not start: ${sentenceOf(started ?? 'it took too long')}`);
  }

  get hasEnded(): boolean {
    return this.isOver;
  }

  /** Never rejects. After `late` the thread has ended. */
  async answer(
    { key, schema, check }: SchemaJob,
    { compileMs, checkMs }: SchemaLimits,
  ): Promise<SchemaAnswer> {
    const forget = this.remember(key);
    const order: SchemaOrder = {
      key,
      forget: forget.old,
      ...(forget.isNew ? { schema } : {}),
      ...(check === undefined ? {} : { check }),
    };
    this.worker.postMessage(order);
    const first = await this.report(compileMs);
    if (first === undefined || first instanceof Error) return this.late('compiling');
    if (first.kind === 'broken') {
      this.remembered.delete(key);
      return first;
    }
    if (check === undefined) return { kind: 'fits' };
    const second = await this.report(checkMs);
    if (second instanceof Error || second?.kind !== 'checked') return this.late('checking');
    return second.problem === undefined ? { kind: 'fits' } : { kind: 'misfit', problem: second.problem };
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.worker.terminate();
  }

  private async late(at: 'compiling' | 'checking'): Promise<SchemaAnswer> {
    // V8 stops the thread wherever it is, even within a pattern that backtracks for ever.
    await this.end();
    return { kind: 'late', at };
  }

  /** The next message; undefined when that takes too long. */
  private async report(limitMs: number): Promise<SchemaReport | Error | undefined> {
    if (this.unheard.length === 0) {
      await new Promise<void>((resolve) => {
        const limit = setTimeout(resolve, limitMs);
        this.onReport = () => {
          clearTimeout(limit);
          resolve();
        };
      });
    }
    return this.unheard.shift();
  }

  private settle(report: SchemaReport | Error): void {
    this.unheard.push(report);
    this.onReport();
  }

  /** The thread keeps the schemas that were asked for last. */
  private remember(key: string): { isNew: boolean; old: readonly string[] } {
    const isNew = !this.remembered.delete(key);
    this.remembered.add(key);
    const [oldest] = this.remembered;
    if (this.remembered.size <= MAX_KEPT || oldest === undefined) return { isNew, old: [] };
    this.remembered.delete(oldest);
    return { isNew, old: [oldest] };
  }
}
