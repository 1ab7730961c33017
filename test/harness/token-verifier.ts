import type { IncomingMessage } from 'node:http';
import { decodeJwt, type JWTPayload } from 'jose';
import { allowInsecureRequests, validateJwtAccessToken } from 'oauth4webapi';

/** What an accepted request proved. */
export interface VerifiedToken {
  readonly claims: JWTPayload;
  readonly token: string;
  /** The proof of the key to which the token is bound; undefined for a bearer token. */
  readonly proof?: string | undefined;
}

/** A request, with everything that a signature may cover. */
export type SentRequest = Pick<IncomingMessage, 'method' | 'url'> & {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/**
 * Verifies requests as a tool server does, with a library that others wrote: the token, and for a token bound to a
 * key also the proof, each proof once (RFC 9068, RFC 9449).
 */
export class TokenVerifier {
  private readonly seen = new Set<string>();
  private readonly issuer: { readonly issuer: string; readonly jwks_uri: string };

  constructor(
    issuer: string,
    private readonly audience: string,
  ) {
    this.issuer = { issuer, jwks_uri: `${issuer}/jwks` };
  }

  /** Throws with the reason. */
  async verify({ method = 'GET', url, headers }: SentRequest): Promise<VerifiedToken> {
    const given = Object.entries(headers).filter((entry): entry is [string, string] => {
      return typeof entry[1] === 'string';
    });
    const request = new Request(new URL(url ?? '/', this.audience), { method, headers: given });
    const claims = await validateJwtAccessToken(this.issuer, request, this.audience, {
      [allowInsecureRequests]: true,
    });
    const proof = request.headers.get('dpop') ?? undefined;
    if (proof !== undefined) this.once(String(decodeJwt(proof).jti));
    return { claims, token: tokenOf({ headers }), proof };
  }

  private once(id: string): void {
    if (this.seen.has(id)) throw new Error('the proof was used before');
    this.seen.add(id);
  }
}

/** The token, with either scheme in the header. */
export function tokenOf({ headers }: Pick<SentRequest, 'headers'>): string {
  const { authorization = '' } = headers;
  return String(authorization).replace(/^(?:Bearer|DPoP) /, '');
}
