import { z } from 'zod';
import { SCOPE_PRESETS, SCOPES, type ScopePreset } from '../../tokens/scopes.js';
import { keyMarks } from '../key-marks.js';
import { integer } from './key-types.js';

const MAX_ISSUERS = 32;
const MAX_ROLES = 500;
const MAX_ISSUER_LENGTH = 200;
const DAY_SECS = 86_400;

/** Signatures that need the private key. */
const JWT_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** https, or http on this machine. `|` separates the issuer from the subject in a user id. */
function isTrustworthy(text: string): boolean {
  if (!URL.canParse(text) || /[|\s?#]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isSafe && username === '' && password === '';
}

const trustworthy = 'must be an https URL without a user, a query or a "|" (http only on this machine)';

const scopeList = () => z.array(z.enum([...SCOPES, '*'])).max(SCOPES.length + 1);

/** What callers with a role may do. */
const role = z
  .strictObject({
    preset: z
      .enum(Object.keys(SCOPE_PRESETS) as [ScopePreset, ...ScopePreset[]])
      .optional()
      .describe('A usual set of scopes: admin, operator or viewer.'),
    scopes: scopeList().optional().describe('Scopes, in place of a preset; empty for none.'),
    agents: z
      .array(z.string().min(1).max(128))
      .min(1)
      .max(256)
      .optional()
      .describe('Agents that its callers may use, the first by default; unset is all.'),
    bound: z
      .boolean()
      .default(false)
      .describe('Whether its callers see only their own sessions, memories and approvals.'),
  })
  .refine(({ preset, scopes }) => (preset === undefined) !== (scopes === undefined), {
    message: 'a role needs either a preset or a list of scopes',
  });

const jwtIssuer = z.strictObject({
  issuer: z
    .string()
    .max(MAX_ISSUER_LENGTH)
    .refine(isTrustworthy, trustworthy)
    .describe('Who signs the tokens: the text of their claim iss, to the letter.'),
  audience: z
    .string()
    .min(1)
    .max(512)
    .describe('What the claim aud must contain, so that tokens for other services are refused.'),
  jwks_url: z
    .string()
    .max(2048)
    .refine((text) => text === '' || isTrustworthy(text.split('?')[0] ?? ''), trustworthy)
    .default('')
    .describe('Where the public keys are; empty asks the discovery document of the issuer.'),
  ca_file: z
    .string()
    .max(4096)
    .default('')
    .describe('PEM file of additional authorities, only for calls to this issuer; read at each fetch.'),
  jwks_token_file: z
    .string()
    .max(4096)
    .default('')
    .describe(
      "File with a bearer token for fetching keys, sent to the issuer's host and that of jwks_url only.",
    ),
  algorithms: z
    .array(z.enum(JWT_ALGORITHMS))
    .min(1)
    .max(JWT_ALGORITHMS.length)
    .default(['RS256', 'PS256', 'ES256', 'EdDSA'])
    .describe('Signatures that are accepted.'),
  user_claim: z
    .string()
    .min(1)
    .max(256)
    .refine((claim) => !/e-?mail/i.test(claim), 'must not be an e-mail address: those change hands')
    .default('sub')
    .describe('The claim that names the caller for good; dots lead into objects. Never an e-mail address.'),
  roles_claim: z
    .string()
    .min(1)
    .max(256)
    .default('groups')
    .describe('The claim that names the roles, a list or words of a text; dots lead into objects.'),
  max_token_age_secs: integer(1, 30 * DAY_SECS)
    .default(DAY_SECS)
    .describe('Longest time since a token was issued (iat), in seconds, however late it expires.'),
  roles: z
    .record(z.string().min(1).max(256), role)
    .refine((roles) => Object.keys(roles).length <= MAX_ROLES, `at most ${MAX_ROLES} roles`)
    .default({})
    .describe('What each role may do; "*" is for callers that have none of the others.'),
});

/**
 * Tokens of the company's identity providers. Only the file and the environment decide which issuers the gateway
 * trusts.
 */
export const authSection = z.strictObject({
  jwt: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), jwtIssuer)
    .refine((issuers) => Object.keys(issuers).length <= MAX_ISSUERS, `at most ${MAX_ISSUERS} issuers`)
    .refine(hasEachIssuerOnce, 'two entries have the same issuer; give one of them all roles')
    .default({})
    .register(keyMarks, { fileOnly: true })
    .describe('Issuers whose JSON Web Tokens are accepted in addition to API tokens.'),
});

function hasEachIssuerOnce(issuers: Record<string, { issuer: string }>): boolean {
  const named = Object.values(issuers).map(({ issuer }) => issuer);
  return new Set(named).size === named.length;
}

/** What `[auth.jwt.<name>]` says about one issuer. */
export type JwtIssuerSettings = z.output<typeof authSection>['jwt'][string];
export type RoleSettings = JwtIssuerSettings['roles'][string];
