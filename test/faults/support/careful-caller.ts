import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../harness/http-caller.js';
import { wrongWith } from './answers.js';
import { oneOf } from './chance.js';
import type { GatewayPlace, Profile } from './gateway-place.js';
import type { Ledger } from './ledger.js';

export interface Question {
  readonly method: 'POST' | 'PATCH' | 'DELETE' | 'GET';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Definite<Body> extends Answer<Body> {
  /** Whether an attempt before this one may have done it: its answer never came, or said so. */
  readonly wasCut: boolean;
}

/** Until an answer is definite; accepted messages may have a line before them. */
const DEFINITE_MS = 150_000;

/**
 * One of the callers, as the documents tell them to be: after a cut, or when told to come back, it asks any gateway again
 * with the same key. Judges every answer on the way.
 */
export class CarefulCaller {
  /** Answers by status, and connections that broke. */
  static newCounts(): Map<string, number> {
    return new Map();
  }

  constructor(
    readonly name: string,
    readonly profile: Profile,
    private readonly places: readonly GatewayPlace[],
    private readonly ledger: Ledger,
    private readonly counts: Map<string, number>,
  ) {}

  /** Undefined when there is no definite answer in time, which is a violation. */
  async ask<Body>(question: Question): Promise<Definite<Body> | undefined> {
    const deadline = performance.now() + DEFINITE_MS;
    let wasCut = false;
    let last = 'none';
    while (performance.now() < deadline) {
      const answer = await this.askOnce<Body>(question);
      this.count(answer === undefined ? 'cut' : String(answer.status));
      if (answer === undefined) wasCut = true;
      else {
        this.judge(question, answer);
        if (!answer.headers.has('retry-after')) return { ...answer, wasCut };
        last = answer.text;
        wasCut ||= last.includes('whether it did is not known');
      }
      await sleep(answer === undefined ? 30 : 200);
    }
    const sentence = `${this.name}: ${question.method} ${question.path} has no definite answer; the last was ${last}`;
    this.ledger.write({ kind: 'violation', sentence });
    return undefined;
  }

  private askOnce<Body>({ method, path, body, headers }: Question): Promise<Answer<Body> | undefined> {
    const up = this.places.filter(({ running }) => running !== undefined);
    const caller = up.length === 0 ? undefined : oneOf(Math.random, up).at(this.profile);
    if (caller === undefined) return Promise.resolve(undefined);
    const wish = { ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) };
    return caller.send<Body>(method, path, wish).catch(() => undefined);
  }

  private judge({ method, path }: Question, answer: Answer): void {
    const wrong = wrongWith(this.profile, answer);
    if (wrong === undefined) return;
    this.ledger.write({ kind: 'violation', sentence: `${this.name}: ${method} ${path} got ${wrong}` });
  }

  private count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
