import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import { Unavailable } from '../../common/errors/gateway-error.js';
import type { Logger } from '../logging/logger.js';
import type { JwtHeader } from './presented-jwt.js';

/** The least time between two fetches on demand, for unknown keys and for an issuer that cannot be reached. */
const DEMAND_MS = 10_000;
const REFRESH_MS = 600_000;
const RETRY_MS = 30_000;
/** How long keys are used when the issuer cannot be reached. */
const KEPT_MS = 86_400_000;
/**
 * How many different unknown keys may have tokens waiting for the next fetch. In a rotation all tokens name one key;
 * tokens with invented names can take only this many places.
 */
const MAX_AWAITED = 8;
const MAX_WAITING = 200;
const MAX_ABSENT = 1000;

type FindKey = ReturnType<typeof createLocalJWKSet>;

export interface IssuerKeysParts {
  readonly fetch: () => Promise<JSONWebKeySet>;
  readonly logger: Logger;
  /** The issuer, for logs and messages. */
  readonly issuer: string;
}

/** The keys of one issuer: fetched once for all requests, refreshed in the background, kept while the issuer is away. */
export class IssuerKeys {
  private find: FindKey | undefined;
  private fetchedAt = 0;
  private kids: ReadonlySet<string | undefined> = new Set();
  private triedAt = Number.NEGATIVE_INFINITY;
  /** When an unknown key last caused a fetch. */
  private demandedAt = Number.NEGATIVE_INFINITY;
  private fetching: Promise<boolean> | undefined;
  private nextFetch: Promise<boolean> | undefined;
  /** How many requests wait, by the key that they name. */
  private readonly awaited = new Map<string, number>();
  private waiting = 0;
  private failing = false;
  /** Ids that the newest keys do not have: until the next fetch they are refused at once. */
  private readonly absent = new Set<string>();
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly parts: IssuerKeysParts) {}

  /** Called when keys were fetched. */
  onFetched(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Fetches when a fetch is due; never rejects. */
  async refreshWhenDue(): Promise<void> {
    const everyMs = this.failing || this.find === undefined ? RETRY_MS : REFRESH_MS;
    if (sinceMs(this.triedAt) >= everyMs) await this.fetch();
  }

  /** Whether tokens can be checked. Without keys it fetches them, at most every ten seconds; never rejects. */
  async available(): Promise<boolean> {
    return this.isUsable || this.fetchOnDemand();
  }

  /** The fetched key that a header names; undefined when there is no such key, or the keys are too old. */
  async keyAtHand(header: JwtHeader): Promise<CryptoKey | undefined> {
    return this.isUsable ? this.lookUp(header) : undefined;
  }

  /**
   * The key that a header names; undefined when the issuer has no such key. An unknown key makes the gateway fetch the
   * keys again, but not within ten seconds of the last such fetch. Until then the token waits, so that a key that was
   * published just now is not refused. At most eight such keys are waited for; a token with another one is refused at
   * once. Throws `Unavailable` while this cannot be known.
   */
  async keyFor(header: JwtHeader): Promise<CryptoKey | undefined> {
    if (!this.isUsable && !(await this.fetchOnDemand())) throw this.unavailable();
    const known = await this.lookUp(header);
    if (known !== undefined) return known;
    const { kid } = header;
    // When a key of this name does not fit, no other key has the name.
    if (kid === undefined || this.kids.has(kid)) return undefined;
    if (this.fetching !== undefined) {
      await this.fetching;
      const come = await this.lookUp(header);
      if (come !== undefined) return come;
    }
    if (this.absent.has(kid) && sinceMs(this.demandedAt) < DEMAND_MS) return undefined;
    if (!(await this.fetchOrWait(kid))) throw this.unavailable();
    const found = await this.lookUp(header);
    if (found === undefined && this.absent.size < MAX_ABSENT) this.absent.add(kid);
    return found;
  }

  /** How old the keys are; infinite while there are none. */
  get ageMs(): number {
    return this.find === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Date.now() - this.fetchedAt);
  }

  private get isUsable(): boolean {
    return this.find !== undefined && sinceMs(this.fetchedAt) < KEPT_MS;
  }

  private async lookUp({ alg, kid }: JwtHeader): Promise<CryptoKey | undefined> {
    try {
      return await this.find?.({ alg, ...(kid === undefined ? {} : { kid }) });
    } catch (error) {
      // This includes a token without a key id from an issuer with several keys.
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** Whether there are keys afterwards. Joins a fetch that is under way. */
  private async fetchOnDemand(): Promise<boolean> {
    if (this.fetching !== undefined || sinceMs(this.triedAt) >= DEMAND_MS) await this.fetch();
    return this.isUsable;
  }

  private async fetchOrWait(kid: string): Promise<boolean> {
    const leftMs = DEMAND_MS - sinceMs(this.demandedAt);
    if (leftMs <= 0) return this.fetchForUnknown();
    const waiting = this.awaited.get(kid) ?? 0;
    if (this.waiting >= MAX_WAITING || (waiting === 0 && this.awaited.size >= MAX_AWAITED))
      throw this.unavailable(leftMs);
    this.awaited.set(kid, waiting + 1);
    this.waiting += 1;
    try {
      this.nextFetch ??= new Promise<boolean>((resolve) => {
        setTimeout(() => {
          this.nextFetch = undefined;
          resolve(this.fetchForUnknown());
        }, leftMs).unref();
      });
      return await this.nextFetch;
    } finally {
      this.waiting -= 1;
      const left = (this.awaited.get(kid) ?? 1) - 1;
      if (left === 0) this.awaited.delete(kid);
      else this.awaited.set(kid, left);
    }
  }

  private fetchForUnknown(): Promise<boolean> {
    this.demandedAt = Date.now();
    return this.fetch();
  }

  /**
   * One fetch for all that wait for it.
   * @returns whether it brought keys
   */
  private fetch(): Promise<boolean> {
    this.fetching ??= this.fetchNow().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  private async fetchNow(): Promise<boolean> {
    const { fetch, issuer, logger } = this.parts;
    this.triedAt = Date.now();
    try {
      const fetched = await fetch();
      this.find = createLocalJWKSet(fetched);
      this.kids = new Set(fetched.keys.map(({ kid }) => kid));
      this.fetchedAt = Date.now();
      this.absent.clear();
      for (const listener of this.listeners) listener();
      if (this.failing) logger.info('the keys of an issuer can be fetched again', { issuer });
      this.failing = false;
      return true;
    } catch (error) {
      const known = this.find === undefined ? 'none yet: its tokens are refused with 503' : 'kept for 24 h';
      if (!this.failing)
        logger.warn('the keys of an issuer cannot be fetched; will retry', {
          issuer,
          known,
          error: String(error),
        });
      this.failing = true;
      return false;
    }
  }

  private unavailable(afterMs = DEMAND_MS): Unavailable {
    return new Unavailable(
      'The keys of the issuer of this token cannot be fetched at the moment, so it cannot be checked. Try again.',
      { retryAfterSecs: Math.ceil(afterMs / 1000), details: { reason: 'issuer_unavailable' } },
    );
  }
}

/** By the wall clock, which continues while a machine sleeps. */
function sinceMs(thenMs: number): number {
  const passed = Date.now() - thenMs;
  // A clock that was set back must not make anyone wait for it.
  return passed < 0 ? Number.POSITIVE_INFINITY : passed;
}
