import {
  assertSecureTokenEndpoint,
  type OAuthClientInformationMixed,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { shownText } from '../connection/shown-text.js';
import type { Fetch } from '../identity/tool-identity.js';
import { variable } from '../transport/credentials.js';
import type { SignInTokens } from './sign-ins.store.js';

const MAX_SAID = 300;
const MAX_LIFE_SECS = 10 * 365 * 86_400;
const MAX_TOKEN = 65_536;

/** What went wrong, on one line of at most 300 characters: it may hold whatever an authorization server sent. */
export function saidBy(error: unknown, redact: (text: string) => string): string {
  const line = shownText(redact(sentenceOf(error)), (text) => text).replaceAll(/\s+/g, ' ');
  return line.length > MAX_SAID ? `${line.slice(0, MAX_SAID - 1)}…` : line;
}

/** Seconds that an access token lives; undefined when its issuer does not say, or says nothing of use. */
export function lifeOf({
  expires_in: seconds,
}: {
  readonly expires_in?: number | undefined;
}): number | undefined {
  const isOne = seconds !== undefined && Number.isFinite(seconds) && seconds > 0;
  return isOne ? Math.min(seconds, MAX_LIFE_SECS) : undefined;
}

/** Throws for what cannot stand in a header, without repeating it. */
export function usableToken(token: string): string {
  if (token.length > MAX_TOKEN || !/^[\x21-\x7e]+$/.test(token))
    throw new Error('the authorization server gave no access token that can be used');
  return token;
}

/** The client that the settings name, with its secret of today; undefined when the gateway registers itself. */
export function configuredClient(
  { oauth_client_id: id, oauth_client_secret_env: secret, oauth_issuer: issuer }: McpServerSettings,
  environment: Environment,
): (OAuthClientInformationMixed & { issuer: string }) | undefined {
  if (id === '') return undefined;
  const client = secret === '' ? {} : { client_secret: variable(secret, environment) };
  return { client_id: id, ...client, issuer };
}

/** RFC 7009. Throws why the tokens were not revoked. */
export async function revokeTokens(tokens: SignInTokens, fetch: Fetch): Promise<void> {
  const { metadata, information, accessToken, refreshToken } = tokens;
  const endpoint =
    metadata !== undefined && 'revocation_endpoint' in metadata && metadata.revocation_endpoint;
  if (typeof endpoint !== 'string') throw new Error('it takes no tokens back');
  const { client_id: id, client_secret: secret } = information;
  const form = new URLSearchParams({ token: refreshToken ?? accessToken });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const method = selectClientAuthMethod(information, metadata?.token_endpoint_auth_methods_supported ?? []);
  if (method === 'client_secret_basic')
    headers.set('authorization', `Basic ${Buffer.from(`${id}:${secret ?? ''}`).toString('base64')}`);
  else form.set('client_id', id);
  if (method === 'client_secret_post') form.set('client_secret', secret ?? '');
  const to = assertSecureTokenEndpoint(endpoint);
  const { ok, status } = await fetch(to, { method: 'POST', headers, body: form.toString() });
  if (!ok) throw new Error(`it answered ${status}`);
}
