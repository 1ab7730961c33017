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

export interface DefiniteAnswer<Body> extends Answer<Body> {
  /** Whether an earlier attempt may have had an effect: its response never came, or said so. */
  readonly wasCut: boolean;
}

/** Time for a definite response. Accepted messages may have to wait in a queue. */
const DEFINITE_MS = 150_000;

/**
 * A caller as the documents describe it: after a cut, or when told to come back, it repeats the request with the same
 * key at any gateway. It checks every response on the way.
 */
export class CarefulCaller {
  /** Responses by status, and broken connections. */
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

  /** Undefined when no definite response arrives in time, which is a violation. */
  async ask<Body>(question: Question): Promise<DefiniteAnswer<Body> | undefined> {
    const deadline = performance.now() + DEFINITE_MS;
    let wasCut = false;
    const met: string[] = [];
    while (performance.now() < deadline) {
      const askedAt = performance.now();
      const answer = await this.askOnce<Body>(question);
      met.push(`${Math.round(performance.now() - askedAt)} ms: ${answer?.text ?? 'cut'}`);
      this.count(answer === undefined ? 'cut' : String(answer.status));
      if (answer === undefined) wasCut = true;
      else {
        this.judge(question, answer);
        if (!answer.headers.has('retry-after')) return { ...answer, wasCut };
        wasCut ||= answer.text.includes('whether it did is not known');
      }
      await sleep(answer === undefined ? 30 : 200);
    }
    const sentence = `${this.name}: ${question.method} ${question.path} has no definite answer; its attempts met:\n${met.join('\n')}`;
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
