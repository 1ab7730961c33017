import {
  type DpopSession,
  type FetchLike,
  isDpopNonceChallenge,
  OAuthErrorCode,
  withDpop,
} from '@modelcontextprotocol/client';
import { ProofRefused } from '../connection/mcp-failure.js';

const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;
/** Schemes of a challenge, at its beginning or after another one. */
const BEARER = /(?:^|,)\s*bearer\b/i;
const DPOP = /(?:^|,)\s*dpop\b/i;

/** Keys that a tool server took once, and keys that it does not know what to do with. */
const taken = new WeakSet<DpopSession>();
const unknown = new WeakSet<DpopSession>();

export interface PresentedToken {
  readonly token: string;
  /** The key to which the token is bound; undefined when it is its bearer's. */
  readonly key?: DpopSession | undefined;
}

/**
 * Whether a server that refused a request asks for bearer tokens alone. One that takes those that are bound to a key asks for them too
 * (RFC 9449, 7.1).
 */
export function asksForBearersAlone({ status, headers }: Response): boolean {
  const asked = headers.get('www-authenticate') ?? '';
  return status === UNAUTHORIZED && BEARER.test(asked) && !DPOP.test(asked);
}

/** Whether a tool server turned out to take bearer tokens alone, before it took any that is bound to this key. */
export function isOfNoUse(key: DpopSession | undefined): boolean {
  return key !== undefined && unknown.has(key);
}

/**
 * Makes a request of a tool server with this token, and with a proof of its key. It is made once more where the server wants its nonce
 * in the proof, and so did not run it. Throws `ProofRefused` for a server that then wants another one.
 */
export async function requestWith(
  { token, key }: PresentedToken,
  fetch: FetchLike,
  to: string | URL,
  init: RequestInit | undefined,
): Promise<Response> {
  if (key === undefined) {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(to, { ...init, headers });
  }
  const response = await withDpop(key, () => token)(withoutRefusedBodies(fetch))(to, init);
  if (isDpopNonceChallenge(response)) throw new ProofRefused(new URL(to).origin);
  if (response.status !== UNAUTHORIZED) taken.add(key);
  else if (!taken.has(key) && asksForBearersAlone(response)) unknown.add(key);
  return response;
}

/** The library reads what comes with the demand for a nonce, however long it is. */
function withoutRefusedBodies(fetch: FetchLike): FetchLike {
  return async (to, init) => {
    const response = await fetch(to, init);
    if (!isDpopNonceChallenge(response)) return response;
    await response.body?.cancel();
    const { status, headers } = response;
    return new Response(null, { status, headers });
  };
}

/** What of an answer of a token endpoint is looked at here. */
interface TokenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly error: unknown;
}

/**
 * Asks a token endpoint with a proof, and once more where it wants its nonce in the proof (RFC 9449, 8).
 * @param ask gets the header with the proof, or none
 */
export async function askedWith<Answer extends TokenAnswer>(
  key: DpopSession | undefined,
  endpoint: string,
  ask: (headers: Readonly<Record<string, string>>) => Promise<Answer>,
): Promise<Answer> {
  if (key === undefined) return ask({});
  const once = async (): Promise<Answer> => {
    const answer = await ask({ dpop: await key.buildProof({ htm: 'POST', htu: endpoint }) });
    const { 'dpop-nonce': nonce } = answer.headers;
    if (typeof nonce === 'string') key.rememberNonce(endpoint, nonce);
    return answer;
  };
  const answer = await once();
  const wantsNonce = answer.status === BAD_REQUEST && answer.error === OAuthErrorCode.UseDpopNonce;
  return wantsNonce ? once() : answer;
}
