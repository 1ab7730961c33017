import type { GatewayError } from '../../common/errors/gateway-error.js';
import type { OnCommit } from '../../platform/database/sql.js';
import { KeyAlreadyUsed } from './idempotency.errors.js';
import type { KeyStore, PresentedKey, StoredResponse } from './key.store.js';

type Outcome = (StoredResponse & { readonly body: string }) | GatewayError;

/** Keeps a key for work of which nothing is stored but the answer (`ResponseRecorder`). */
interface ClaimedKeys {
  claim(asked: PresentedKey): Promise<void>;
  settle(asked: PresentedKey, outcome: Outcome): Promise<void>;
}

/** The Idempotency-Key of a request whose handler stores the response together with the effect. */
export class RequestKey {
  private stored = false;

  constructor(
    private readonly presented: PresentedKey,
    private readonly store: KeyStore,
    /** The turn that the first request with this key began: the handler replays it and does nothing else. */
    readonly turnId: string | undefined,
    private readonly claims: ClaimedKeys,
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

  /**
   * Claims the key for work of which nothing is stored but the answer, sealed, until `settle` is called with it. Throws
   * `KeyAlreadyUsed`.
   */
  async claim(): Promise<void> {
    await this.claims.claim(this.presented);
  }

  /** @param outcome the answer as JSON, in which a text is sent as it is, or why there is none */
  async settle(outcome: Outcome): Promise<void> {
    this.stored = true;
    await this.claims.settle(this.presented, outcome);
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
