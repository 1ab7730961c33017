import { errors, type JSONWebKeySet, type JWK, jwtVerify } from 'jose';
import type { IssuerKeys } from '../../../../platform/identity/issuer-keys.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1_048_576;
const MAX_KEYS = 200;
/** How far the clocks of the connector and of this machine may be apart; the protocol says five minutes. */
const SKEW_SECS = 300;
export const MAX_JWT_LENGTH = 16_384;

/** What a connector's token says. */
export interface ConnectorClaims {
  readonly serviceUrl: string;
  /** The platforms that the key may speak for. */
  readonly endorsements: readonly string[];
}

export interface ConnectorTerms {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: IssuerKeys;
  readonly endorsementsOf: (kid: string) => readonly string[];
}

/**
 * Undefined unless the connector issued the token to this app. Throws `Unavailable` while the keys cannot be fetched.
 */
export async function connectorClaims(
  token: string,
  { issuer, audience, keys, endorsementsOf }: ConnectorTerms,
): Promise<ConnectorClaims | undefined> {
  if (token.length > MAX_JWT_LENGTH) return undefined;
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async ({ alg, kid }) => {
        const key = kid === undefined ? undefined : await keys.keyFor({ alg, kid });
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key;
      },
      {
        issuer,
        audience,
        algorithms: ['RS256'],
        clockTolerance: SKEW_SECS,
        requiredClaims: ['exp', 'serviceurl'],
      },
    );
    const { serviceurl: serviceUrl } = payload;
    if (typeof serviceUrl !== 'string') return undefined;
    return { serviceUrl, endorsements: endorsementsOf(protectedHeader.kid ?? '') };
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** Fetches the connector's keys as its OpenID metadata names them. Remembers what each is endorsed for. */
export class ConnectorKeys {
  private endorsed = new Map<string, readonly string[]>();

  constructor(
    private readonly outbound: OutboundClient,
    private readonly metadataUrl: string,
  ) {}

  readonly endorsementsOf = (kid: string): readonly string[] => this.endorsed.get(kid) ?? [];

  readonly fetch = async (): Promise<JSONWebKeySet> => {
    const { jwks_uri: url } = await this.get(this.metadataUrl);
    if (typeof url !== 'string') throw new Error(`${this.metadataUrl} has no "jwks_uri".`);
    // Keys that come unprotected would let anyone on the way sign messages.
    if (this.metadataUrl.startsWith('https:') && !url.startsWith('https:'))
      throw new Error(`${this.metadataUrl} names a "jwks_uri" that is not https.`);
    const { keys } = await this.get(url);
    if (!Array.isArray(keys)) throw new Error(`${url} is no JSON Web Key Set.`);
    const usable = (keys as JWK[])
      .filter(({ kty, d }) => kty === 'RSA' && d === undefined)
      .slice(0, MAX_KEYS);
    this.endorsed = new Map(usable.map((key) => [key.kid ?? '', endorsementsIn(key)]));
    return { keys: usable };
  };

  private async get(url: string): Promise<Record<string, unknown>> {
    const answer = await this.outbound.read({
      method: 'GET',
      url,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}.`);
    const value = JSON.parse(answer.body.toString('utf8')) as unknown;
    if (typeof value !== 'object' || value === null) throw new Error(`${url} did not answer with an object.`);
    return value as Record<string, unknown>;
  }
}

function endorsementsIn(key: JWK & { readonly endorsements?: unknown }): readonly string[] {
  const { endorsements } = key;
  return Array.isArray(endorsements) ? endorsements.filter((one) => typeof one === 'string') : [];
}
