import { isOfNoUse, type PresentedToken } from '../dpop/bound-requests.js';

/** The lifetime of a token that does not name one. */
const DEFAULT_LIFETIME_SECS = 60;
/** A token is not used in the last part of its life, at most this long. */
const MARGIN_MS = 30_000;
/** Where a token that replaced a refused one is refused too, the next one is asked for after this time. */
const FORCED_EVERY_MS = 30_000;
const UNAUTHORIZED = 401;

/** What an authorization server gave. */
export interface GivenToken extends PresentedToken {
  /** Undefined when it does not say. */
  readonly livesSecs: number | undefined;
}

export interface Proof extends PresentedToken {
  /** Whether it was had before, so that it may have been revoked since. */
  readonly isKept: boolean;
}

interface Kept {
  readonly given: Promise<PresentedToken>;
  readonly askedAt: number;
  /** Whether it replaces one that its server refused. */
  readonly isForced: boolean;
  /** By `performance.now()`; unknown while the token is being requested. */
  endsAt: number;
  value?: string;
}

/**
 * Tokens by key, each requested once for all who need it at once, and kept until shortly before it ends. Past `max` the oldest
 * is dropped.
 */
export class KeptTokens {
  private readonly kept = new Map<string, Kept>();

  /**
   * @param max the most tokens that are kept
   * @param hide told of all tokens that are kept, before a new one is used
   */
  constructor(
    private readonly max: number,
    private readonly hide: (tokens: string[]) => void,
  ) {}

  /** Throws what `ask` throws, and keeps no failure. */
  async of(key: string, ask: () => Promise<GivenToken>): Promise<Proof> {
    const known = this.kept.get(key);
    if (known !== undefined && known.endsAt > performance.now())
      return { ...(await known.given), isKept: true };
    const asked: Kept = {
      given: this.ask(ask, () => asked),
      ...{
        askedAt: performance.now(),
        isForced: known?.endsAt === REFUSED,
        endsAt: Number.POSITIVE_INFINITY,
      },
    };
    this.keep(key, asked);
    try {
      return { ...(await asked.given), isKept: false };
    } catch (error) {
      if (this.kept.get(key) === asked) this.kept.delete(key);
      throw error;
    }
  }

  /**
   * The server refused this token. @returns whether another one may be had: not when it replaced a refused one a moment ago,
   * because a server that refuses everything would have the gateway ask for one with each request
   */
  refuse(key: string, token: string): boolean {
    const known = this.kept.get(key);
    if (known?.value !== token) return true;
    if (known.isForced && performance.now() - known.askedAt < FORCED_EVERY_MS) return false;
    known.endsAt = REFUSED;
    return true;
  }

  private keep(key: string, token: Kept): void {
    this.kept.delete(key);
    const [oldest] = this.kept.keys();
    if (oldest !== undefined && this.kept.size >= this.max) this.kept.delete(oldest);
    this.kept.set(key, token);
  }

  private async ask(ask: () => Promise<GivenToken>, kept: () => Kept): Promise<PresentedToken> {
    const askedAt = performance.now();
    const { token, key, livesSecs } = await ask();
    const livesMs = 1000 * (livesSecs ?? DEFAULT_LIFETIME_SECS);
    kept().endsAt = askedAt + livesMs - Math.min(MARGIN_MS, livesMs / 10);
    kept().value = token;
    this.hide([...new Set([...this.kept.values()].flatMap(({ value }) => value ?? [])).add(token)]);
    return { token, key };
  }
}

/**
 * Makes a request with a token, and once more with another where the server refuses one that was kept, or whose key it knows nothing of:
 * it did not run the request.
 * @param refuse whether another token may be had
 */
export async function requestProven(
  proof: () => Promise<Proof>,
  refuse: (token: string) => boolean,
  request: (proof: Proof) => Promise<Response>,
): Promise<Response> {
  const first = await proof();
  const response = await request(first);
  const isReplaceable = first.isKept || isOfNoUse(first.key);
  if (response.status !== UNAUTHORIZED || !isReplaceable || !refuse(first.token)) return response;
  await response.body?.cancel();
  return request(await proof());
}

/** The end of a token that its server refused. */
const REFUSED = Number.NEGATIVE_INFINITY;
