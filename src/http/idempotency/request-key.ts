import type { OnCommit } from '../../platform/database/sql.js';
import { KeyAlreadyUsed } from './idempotency.errors.js';
import type { KeyStore, PresentedKey, StoredResponse } from './key.store.js';

/** The Idempotency-Key of a request whose handler stores the response together with the effect. */
export class RequestKey {
  private stored = false;

  constructor(
    private readonly presented: PresentedKey,
    private readonly store: KeyStore,
    /** The turn that the first request with this key began: the handler replays it and does nothing else. */
    readonly turnId: string | undefined,
  ) {}

  /** Whether the response was committed with the effect. */
  get isStored(): boolean {
    return this.stored || this.turnId !== undefined;
  }

  /** Commits the response with the effect, or neither when the key was used meanwhile. */
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

  /** The same for a response that holds a secret: its body is sealed in the database. */
  storingSealed<Result>(status: number, present: (result: Result) => object): OnCommit<Result> {
    return async (runner, result) => {
      const answer = { status, headers: {}, body: JSON.stringify(present(result)) };
      this.mark(await this.store.storeSealed(runner, this.presented, answer));
    };
  }

  /** The same for a turn, by its id: the history will hold the response. */
  storingTurn(): OnCommit<string> {
    return async (runner, turnId) => this.mark(await this.store.storeTurn(runner, this.presented, turnId));
  }

  /** Called when nothing was done under this key and the response of an earlier request is replayed. */
  replayed(): void {
    this.stored = true;
  }

  private mark(kept: boolean): void {
    if (!kept) throw new KeyAlreadyUsed();
    this.stored = true;
  }
}
