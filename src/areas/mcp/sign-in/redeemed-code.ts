import { exchangeAuthorization, validateAuthorizationResponseIssuer } from '@modelcontextprotocol/client';
import { type DpopMode, isBoundAs } from '../dpop/dpop-terms.js';
import type { ProofKeys } from '../dpop/proof-keys.js';
import type { Fetch } from '../identity/tool-identity.js';
import { lifeOf, usableToken } from './authorization-answers.js';
import type { SignInFlow, SignInTokens } from './sign-ins.store.js';

/** What a browser brings back (RFC 6749, 4.1.2, and RFC 9207). */
export interface SignInAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
  readonly description?: string | undefined;
}

export interface Granted {
  readonly tokens: SignInTokens;
  /** Seconds. */
  readonly lives: number | undefined;
}

/** Gets the tokens for what a browser brought back, bound to the key of the flow if it has one. Throws why there are none. */
export async function redeemedCode(
  flow: SignInFlow,
  answer: Omit<SignInAnswer, 'state'>,
  { mode, keys, fetchFn }: { readonly mode: DpopMode; readonly keys: ProofKeys; readonly fetchFn: Fetch },
): Promise<Granted> {
  const { authorizationServer, metadata, information, codeVerifier, resource, redirectUrl, key } = flow;
  const { code, iss } = answer;
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.['authorization_response_iss_parameter_supported'] === true,
  });
  if (code === undefined) throw new Error(refusalText(answer));
  const given = await exchangeAuthorization(authorizationServer, {
    ...{ clientInformation: information, authorizationCode: code, codeVerifier, redirectUri: redirectUrl },
    ...{ fetchFn },
    ...(key === undefined ? {} : { dpop: await keys.restored(key) }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(iss === undefined ? {} : { iss }),
    ...(resource === undefined ? {} : { resource }),
  });
  const accessToken = usableToken(given.access_token);
  const client = { authorizationServer, metadata, information, redirectUrl, resource };
  const isBound =
    key !== undefined && isBoundAs(mode, metadata?.issuer ?? authorizationServer, given.token_type);
  const scope = given.scope ?? flow.scope;
  const refreshToken = given.refresh_token;
  return {
    tokens: { ...client, accessToken, refreshToken, scope, ...(isBound ? { key, isBound } : {}) },
    lives: lifeOf(given),
  };
}

function refusalText({ error, description }: Pick<SignInAnswer, 'error' | 'description'>) {
  const said = [error, description].filter((part) => part !== undefined && part !== '').join(': ');
  return said === '' ? 'the authorization server sent no code' : `the authorization server said ${said}`;
}
