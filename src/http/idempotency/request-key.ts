import type { OnCommit } from '../../platform/database/sql.js';
import { KeyAlreadyUsed } from './idempotency.errors.js';
import type { KeyStore, PresentedKey, StoredResponse } from './key.store.js';

/** The Idempotency-Key of a request whose handler keeps the answer together with the effect. */
export class RequestKey {
  private stored = false;

  constructor(
    private readonly presented: PresentedKey,
    private readonly store: KeyStore,
    /** The turn that the first request with this key began: it is told again, and nothing is done. */
    readonly turnId: string | undefined,
  ) {}

  /** Whether the effect that was committed has its answer beside it. */
  get isStored(): boolean {
    return this.stored || this.turnId !== undefined;
  }

  /** Commits the answer with the effect, or neither when the key was used meanwhile. */
  storing<Result>(
    status: number,
    present: (result: Result) => object,
    headersOf: (result: Result) => StoredResponse['headers'] = () => ({}),
  ): OnCommit<Result> {
    return async (runner, result) => {
      const answer = { status, headers: headersOf(result), body: JSON.stringify(present(result)) };
      this.mark(await this.store.storeResponse(runner, this.presented, answer));
    };
  }

  /** The same for a turn, given its id: the history will have the answer. */
  storingTurn(): OnCommit<string> {
    return async (runner, turnId) => this.mark(await this.store.storeTurn(runner, this.presented, turnId));
  }

  /** Nothing was done under this key: what an earlier request did is told again. */
  replayed(): void {
    this.stored = true;
  }

  private mark(kept: boolean): void {
    if (!kept) throw new KeyAlreadyUsed();
    this.stored = true;
  }
}
