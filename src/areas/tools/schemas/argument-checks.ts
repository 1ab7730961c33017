import { createHash } from 'node:crypto';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { JsonSchema } from './compiled-schemas.js';
import { schemaBoundsProblem } from './schema-bounds.js';
import { SchemaQueue } from './schema-queue.js';
import type { SchemaJob } from './schema-thread.js';

/** Values against one schema of a tool server or plugin. */
export interface ArgumentCheck {
  /** Why the schema cannot be used; undefined when it can. Throws the reason of an aborted signal. */
  verify(signal?: AbortSignal): Promise<string | undefined>;
  /** What is wrong with the value; undefined when it fits. Throws the reason of an aborted signal. */
  problem(value: unknown, signal?: AbortSignal): Promise<string | undefined>;
}

/** What is known about a schema, by its hash: however often a tool is listed, its schema is compiled once. */
interface Finding {
  isSlow: boolean;
  isUsable: boolean;
  /** Why it cannot be used. */
  broken: string | undefined;
  /** When to try again what took too long, as `performance.now()` has it. */
  tryAgainAt: number;
}

const LARGE_BYTES = 16_384;
const MAX_FINDINGS = 5000;
const QUICK = { compileMs: 250, checkMs: 250 };
const SLOW = { compileMs: 10_000, checkMs: 2000 };
/** A schema that took too long to compile may have met a busy machine: it is tried again after this time. */
const RETRY_MS = 600_000;
const TOO_LONG = 'the schema of this tool takes too long to check them';

/**
 * Checks values against schemas that tool servers and plugins wrote. Nothing is compiled or checked on the event loop.
 * Large schemas, and those that were slow once, have a thread of their own, so that the others do not wait for them.
 */
@Injectable()
export class ArgumentChecks implements OnModuleDestroy {
  private readonly quick = new SchemaQueue(QUICK);
  protected readonly slow = new SchemaQueue(SLOW);
  private readonly findings = new Map<string, Finding>();

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.quick.stop(), this.slow.stop()]);
  }

  of(schema: JsonSchema): ArgumentCheck {
    const tooLarge = schemaBoundsProblem(schema);
    if (tooLarge !== undefined) {
      return { verify: () => Promise.resolve(tooLarge), problem: () => Promise.resolve(tooLarge) };
    }
    const text = JSON.stringify(schema);
    const key = createHash('sha256').update(text).digest('base64url');
    const isLarge = text.length > LARGE_BYTES;
    return {
      verify: (signal) => this.verify({ key, schema }, isLarge, signal),
      problem: (value, signal) => this.problem({ key, schema, check: { value } }, isLarge, signal),
    };
  }

  private async verify(job: SchemaJob, isLarge: boolean, signal?: AbortSignal): Promise<string | undefined> {
    const known = this.findings.get(job.key);
    if (known?.isUsable === true) return undefined;
    return this.problem(job, isLarge, signal);
  }

  private async problem(job: SchemaJob, isLarge: boolean, signal?: AbortSignal): Promise<string | undefined> {
    const finding = this.finding(job.key, isLarge);
    if (finding.broken !== undefined && performance.now() < finding.tryAgainAt) return finding.broken;
    let answer = finding.isSlow ? undefined : await this.quick.run(job, signal);
    if (answer === undefined || answer.kind === 'late') {
      finding.isSlow = true;
      answer = await this.slow.run(job, signal);
    }
    switch (answer.kind) {
      case 'fits':
        finding.isUsable = true;
        finding.broken = undefined;
        return undefined;
      case 'misfit':
        return answer.problem;
      case 'broken':
        finding.broken = `its schema cannot be used: ${answer.problem}`;
        return finding.broken;
      case 'late':
        if (answer.at === 'checking') return TOO_LONG;
        finding.broken = 'its schema takes too long to compile';
        finding.tryAgainAt = performance.now() + RETRY_MS;
        return finding.broken;
      default:
        return answer satisfies never;
    }
  }

  private finding(key: string, isLarge: boolean): Finding {
    const found = this.findings.get(key) ?? {
      ...{ isSlow: isLarge, isUsable: false, broken: undefined },
      tryAgainAt: Infinity,
    };
    // The most recently used ones are kept.
    this.findings.delete(key);
    this.findings.set(key, found);
    const [oldest] = this.findings.keys();
    if (this.findings.size > MAX_FINDINGS && oldest !== undefined) this.findings.delete(oldest);
    return found;
  }
}
