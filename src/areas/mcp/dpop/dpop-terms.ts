import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';

/** Of keys for proofs, by preference. RSA keys take long to make, and nobody who takes proofs wants them alone. */
const ALGORITHMS = ['ES256', 'EdDSA', 'ES384', 'ES512'] as const;

export type ProofAlgorithm = (typeof ALGORITHMS)[number];
export type DpopMode = McpServerSettings['oauth_dpop'];

/** Which tokens are got for a server that asks for bearer tokens alone. */
export function modeAsked(mode: DpopMode, isForBearersAlone: boolean): DpopMode {
  return mode === 'auto' && isForBearersAlone ? 'never' : mode;
}

/** How the tokens of people are got: a proof goes with a token in `Authorization` and nowhere else (RFC 9449, 7.1). */
export function modeFor({ identity_header: header, oauth_dpop: mode }: McpServerSettings): DpopMode {
  return header === '' ? mode : 'never';
}

/** The settings want tokens that are bound to a key, and the authorization server gives none. */
export class TokenNotBound extends Error {
  override readonly name = 'TokenNotBound';

  constructor(issuer: string, problem: string) {
    super(
      `${issuer} ${problem}, and oauth_dpop = "always" wants tokens that are bound to a key (DPoP). With "auto" they are where it can do that`,
    );
  }
}

/**
 * The algorithm of the key to which tokens of this issuer are bound; undefined for tokens of whoever bears them. Throws
 * `TokenNotBound`.
 * @param offered `dpop_signing_alg_values_supported` of its metadata (RFC 9449, 5.1), unchecked
 */
export function algorithmFor(mode: DpopMode, issuer: string, offered: unknown): ProofAlgorithm | undefined {
  if (mode === 'never') return undefined;
  const names: readonly unknown[] = Array.isArray(offered) ? offered : [];
  const found = ALGORITHMS.find((name) => names.includes(name));
  if (found === undefined && mode === 'always')
    throw new TokenNotBound(
      issuer,
      names.length === 0
        ? 'does not say that it binds tokens to keys (dpop_signing_alg_values_supported in its metadata)'
        : `binds tokens only to keys of other algorithms than ${ALGORITHMS.join(', ')}`,
    );
  return found;
}

/**
 * Whether the token that came for a proof is bound to its key. Throws `TokenNotBound`.
 * @param type `token_type` of the answer (RFC 9449, 5)
 */
export function isBoundAs(mode: DpopMode, issuer: string, type: unknown): boolean {
  const isBound = typeof type === 'string' && type.toLowerCase() === 'dpop';
  if (!isBound && mode === 'always')
    throw new TokenNotBound(issuer, 'took the proof and gave a token with another token_type than DPoP');
  return isBound;
}
