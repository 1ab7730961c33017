import { Injectable } from '@nestjs/common';
import type { ApiToken } from './api-token.js';
import type { Caller } from './caller.js';
import { CredentialRevisions } from './credential-revisions.js';
import { TokenStore } from './token.store.js';
import { hashToken, looksLikeToken } from './token-format.js';
import { TokenUse } from './token-use.service.js';

const MAX_KNOWN = 20_000;
const MAX_UNKNOWN = 2000;
const MAX_SEEN = 20_000;

interface KnownToken {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

/**
 * Finds the caller of a presented token. Known callers are kept in memory; before one is used, the table's revision
 * must have been read within half a second. When the database cannot be asked, this throws (503): no one is let
 * through.
 */
@Injectable()
export class TokenDirectory {
  private readonly known = new Map<string, KnownToken>();
  private readonly unknown = new Set<string>();
  /** Tokens that were valid earlier: after a change of the table they are looked up again without asking the gate. */
  private readonly seen = new Set<string>();
  /** Look-ups that are under way; all requests that wait for one share it. */
  private readonly loading = new Map<string, Promise<KnownToken | undefined>>();

  constructor(
    private readonly store: TokenStore,
    private readonly use: TokenUse,
    private readonly revisions: CredentialRevisions,
  ) {
    revisions.onTokensChanged(() => this.forget());
  }

  /**
   * Returns without a promise when the caller is known, as for nearly every request. A token that this process has
   * never seen needs the gate's permission first, then the database. Throws what the gate throws.
   */
  find(
    presented: string | undefined,
    gate?: () => LookUpGate,
  ): Caller | undefined | Promise<Caller | undefined> {
    if (presented === undefined) return undefined;
    const known = this.revisions.isFresh() ? this.known.get(presented) : undefined;
    if (known !== undefined) return this.callerOf(known);
    return looksLikeToken(presented) ? this.findStored(presented, gate) : undefined;
  }

  private async findStored(
    presented: string,
    gate: (() => LookUpGate) | undefined,
  ): Promise<Caller | undefined> {
    if (!this.revisions.isFresh()) await this.revisions.confirm();
    return this.callerOf(this.known.get(presented) ?? (await this.load(presented, gate)));
  }

  private callerOf(known: KnownToken | undefined): Caller | undefined {
    if (known === undefined || known.expiresAtMs <= Date.now()) return undefined;
    this.use.record(known.caller.tokenId);
    return known.caller;
  }

  private forget(): void {
    this.known.clear();
    this.unknown.clear();
    // Requests from now on must not get an answer from before the change.
    this.loading.clear();
  }

  private load(presented: string, gate: (() => LookUpGate) | undefined): Promise<KnownToken | undefined> {
    if (this.unknown.has(presented)) return Promise.resolve(undefined);
    const loading = this.loading.get(presented);
    if (loading !== undefined) return loading;
    const isStranger = gate !== undefined && !this.seen.has(presented);
    const begun = (isStranger ? this.askBehind(gate(), presented) : this.ask(presented)).finally(() => {
      if (this.loading.get(presented) === begun) this.loading.delete(presented);
    });
    this.loading.set(presented, begun);
    return begun;
  }

  private async askBehind(gate: LookUpGate, presented: string): Promise<KnownToken | undefined> {
    await gate.enter();
    let found: KnownToken | undefined;
    try {
      found = await this.ask(presented);
    } finally {
      gate.leave(found !== undefined);
    }
    return found;
  }

  private async ask(presented: string): Promise<KnownToken | undefined> {
    const revision = this.revisions.tokens;
    const token = await this.store.findUnrevokedByHash(hashToken(presented));
    const known = token && knownToken(token);
    // A later change may have overtaken this row: use it once, but do not keep it.
    if (revision === this.revisions.tokens) this.remember(presented, known);
    return known;
  }

  private remember(presented: string, known: KnownToken | undefined): void {
    if (known === undefined) {
      this.seen.delete(presented);
      if (this.unknown.size >= MAX_UNKNOWN) this.unknown.clear();
      this.unknown.add(presented);
      return;
    }
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(presented, known);
    if (this.seen.size >= MAX_SEEN) this.seen.clear();
    this.seen.add(presented);
  }
}

function knownToken(token: ApiToken): KnownToken {
  return {
    caller: {
      tokenId: token.id,
      tokenName: token.name,
      familyId: token.familyId,
      scopes: token.scopes,
      boundUserId: token.boundUserId,
      ...(token.agents !== null && { agents: token.agents }),
    },
    expiresAtMs: token.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
  };
}

/** Asked before the database, when this process has never seen the presented token. */
export interface LookUpGate {
  /** Resolves when the look-up may be made; rejects with what to answer instead. */
  enter(): Promise<void>;
  /** Lets others in while a permitted look-up waits for something slow. The look-up still counts. */
  outside<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Called after every permitted look-up; `isKnown` when the token exists. */
  leave(isKnown: boolean): void;
}
