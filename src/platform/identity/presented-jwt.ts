import type { JwtIssuerSettings } from '../settings/sections/auth.section.js';
import { claimAt, claimText } from './claims.js';
import { type JsonObject, strictObject } from './strict-json.js';

/** Tokens that name hundreds of groups are still shorter. */
const MAX_LENGTH = 16_384;
const MAX_ID_LENGTH = 256;
/** How far the clocks of an issuer and of this machine may differ. */
const SKEW_MS = 60_000;

const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const TYPES = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
/** Parameters that change what the signature means, or that bring or name a key of the sender's own. */
const REFUSED_PARAMETERS = ['crit', 'jwk', 'jku', 'x5u', 'x5c', 'b64', 'zip', 'enc', 'cty'];

/** What a token says about its key; nothing of it is proven. */
export interface JwtHeader {
  readonly alg: string;
  readonly kid?: string;
}

/** A token whose claims pass every check that needs no key. Nothing of it is proven until its signature is verified. */
export interface PresentedJwt {
  readonly text: string;
  readonly header: JwtHeader;
  readonly claims: JsonObject;
  readonly issuer: JwtIssuerSettings;
  readonly subject: string;
  readonly jti: string | undefined;
  /** When it is refused, in Unix milliseconds; the allowed difference of clocks is included. */
  readonly expiresAtMs: number;
}

/** Whether a text has the form of a JSON Web Token, and not that of an API token. */
export function looksLikeJwt(text: string): boolean {
  return text.length <= MAX_LENGTH && SHAPE.test(text);
}

/**
 * Reads a token and makes every check that needs no key: its form, its header, for whom, by whom and when it was
 * issued. Undefined when anything is wrong; callers are never told what. Nothing of it is proven yet.
 */
export function readJwt(
  text: string,
  issuers: ReadonlyMap<string, JwtIssuerSettings>,
  nowMs: number,
): PresentedJwt | undefined {
  if (!looksLikeJwt(text)) return undefined;
  const parts = text.split('.');
  if (!parts.every(isCanonical)) return undefined;
  const [headerPart = '', claimsPart = ''] = parts;
  const header = headerOf(strictObject(headerPart));
  if (header === undefined) return undefined;
  const claims = strictObject(claimsPart);
  const issuer = typeof claims?.['iss'] === 'string' ? issuers.get(claims['iss']) : undefined;
  if (claims === undefined || issuer === undefined) return undefined;
  if (!issuer.algorithms.some((algorithm) => algorithm === header.alg)) return undefined;
  const who = isFor(claims['aud'], issuer.audience) ? subjectOf(claims, issuer) : undefined;
  const expiresAtMs = endOfLife(claims, issuer.max_token_age_secs, nowMs);
  if (expiresAtMs === undefined || who === undefined) return undefined;
  return { text, header, claims, issuer, ...who, expiresAtMs };
}

function subjectOf(
  claims: JsonObject,
  { issuer, user_claim }: JwtIssuerSettings,
): Pick<PresentedJwt, 'subject' | 'jti'> | undefined {
  const subject = claimText(claimAt(claims, user_claim));
  const { jti } = claims;
  if (subject === undefined || !isOptionalId(jti)) return undefined;
  return `${issuer}|${subject}`.length > MAX_ID_LENGTH ? undefined : { subject, jti };
}

/**
 * Whether the part is the only way to write its bytes: otherwise a changed last character could leave the bytes the
 * same.
 */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part;
}

function headerOf(header: JsonObject | undefined): JwtHeader | undefined {
  if (header === undefined || REFUSED_PARAMETERS.some((name) => Object.hasOwn(header, name)))
    return undefined;
  const { alg, kid, typ } = header;
  if (typ !== undefined && (typeof typ !== 'string' || !TYPES.has(typ.toLowerCase()))) return undefined;
  if (typeof alg !== 'string' || !isOptionalId(kid)) return undefined;
  return kid === undefined ? { alg } : { alg, kid };
}

function isOptionalId(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH);
}

function isFor(audience: unknown, own: string): boolean {
  return Array.isArray(audience) ? audience.includes(own) : audience === own;
}

/** Undefined for a token that is not valid now, or that does not say when it is. */
function endOfLife({ exp, nbf, iat }: JsonObject, maxAgeSecs: number, nowMs: number): number | undefined {
  if (!isTime(exp) || !isTime(iat) || !(nbf === undefined || isTime(nbf))) return undefined;
  if (iat * 1000 > nowMs + SKEW_MS || (nbf ?? 0) * 1000 > nowMs + SKEW_MS) return undefined;
  const endsAtMs = Math.min(exp, iat + maxAgeSecs) * 1000 + SKEW_MS;
  return endsAtMs > nowMs ? endsAtMs : undefined;
}

/** Seconds since 1970, possibly with a fraction (RFC 7519, NumericDate). */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < 1e11;
}
