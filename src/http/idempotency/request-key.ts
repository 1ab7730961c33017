import type { Together } from '../../platform/database/sql.js';
import { KeyTaken } from './idempotency.errors.js';
import type { AskedKey, KeptAnswer, KeyStore } from './key.store.js';

/** The Idempotency-Key of a request whose handler keeps the answer together with the effect. */
export class RequestKey {
  private kept = false;

  constructor(
    private readonly asked: AskedKey,
    private readonly store: KeyStore,
    /** The turn that the first request with this key began: it is told again, and nothing is done. */
    readonly turnId: string | undefined,
  ) {}

  /** Whether the effect that was committed has its answer beside it. */
  get isKept(): boolean {
    return this.kept || this.turnId !== undefined;
  }

  /** Commits the answer with the effect, or neither when the key was used meanwhile. */
  keeping<Result>(
    status: number,
    present: (result: Result) => object,
    headersOf: (result: Result) => KeptAnswer['headers'] = () => ({}),
  ): Together<Result> {
    return async (runner, result) => {
      const answer = { status, headers: headersOf(result), body: JSON.stringify(present(result)) };
      this.mark(await this.store.keep(runner, this.asked, answer));
    };
  }

  /** The same for a turn, given its id: the history will have the answer. */
  keepingTurn(): Together<string> {
    return async (runner, turnId) => this.mark(await this.store.keepTurn(runner, this.asked, turnId));
  }

  /** Nothing was done under this key: what an earlier request did is told again. */
  toldAgain(): void {
    this.kept = true;
  }

  private mark(kept: boolean): void {
    if (!kept) throw new KeyTaken();
    this.kept = true;
  }
}
