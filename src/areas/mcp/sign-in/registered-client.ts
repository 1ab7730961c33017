import {
  isStrictScopeSuperset,
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
} from '@modelcontextprotocol/client';
import type { SignInClient } from './sign-ins.store.js';

/** As what the gateway is registered for a server (RFC 7591, and as a document under its own address). */
export function clientMetadata(callback: string): OAuthClientMetadata & { readonly redirect_uris: string[] } {
  return {
    client_name: 'Agent Gateway',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}

/** That document, whose address is the id of the client. */
export function clientDocument(
  client_id: string,
  callback: string,
): OAuthClientMetadata & { readonly client_id: string } {
  return { client_id, ...clientMetadata(callback), token_endpoint_auth_method: 'none' };
}

/** The client that an earlier sign-in registered, if it was for the same page and for these scopes. */
export function registeredClient(
  earlier: SignInClient | undefined,
  callback: string,
  wantedScope: string | undefined,
): OAuthClientInformationMixed | undefined {
  if (earlier?.redirectUrl !== callback) return undefined;
  const { information } = earlier;
  const registered = 'scope' in information ? information.scope : undefined;
  return registered !== undefined && isStrictScopeSuperset(wantedScope, registered) ? undefined : information;
}
