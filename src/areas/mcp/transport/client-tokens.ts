import {
  type AuthProvider,
  auth,
  type ClientCredentialsProvider,
  type DpopSession,
  extractWWWAuthenticateParams,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type PrivateKeyJwtProvider,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { asksForBearersAlone, requestWith } from '../dpop/bound-requests.js';
import { type DpopMode, isBoundAs, modeAsked } from '../dpop/dpop-terms.js';
import { OfferedAlgorithms } from '../dpop/offered-algorithms.js';
import type { ProofKeys } from '../dpop/proof-keys.js';
import type { Fetch } from '../identity/tool-identity.js';

/** A request may still go out with the token of before. */
const REMEMBERED = 2;

/**
 * The gateway's own tokens at one connection, which the library gets with client credentials, bound to a key where the settings and the
 * authorization server say so. The library gets them; the proofs at the tool server are put in by `fetchFor`, so that all requests have
 * them from one place.
 */
export class ClientTokens implements AuthProvider {
  private mode: DpopMode;
  private readonly offered = new OfferedAlgorithms();
  private key: DpopSession | undefined;
  /** Those that are bound to the key, the newest first. */
  private bound: readonly string[] = [];

  constructor(
    private readonly provider: ClientCredentialsProvider | PrivateKeyJwtProvider,
    private readonly server: McpServerSettings,
    private readonly keys: ProofKeys,
  ) {
    this.mode = server.oauth_dpop;
    const save = provider.saveTokens.bind(provider);
    Object.assign(provider, {
      saveDiscoveryState: (state: OAuthDiscoveryState) => this.chooseKey(state),
      dpop: () => this.key,
      saveTokens: (tokens: OAuthTokens) => {
        this.noteBinding(tokens);
        save(tokens);
      },
    });
  }

  token(): Promise<string | undefined> {
    return Promise.resolve(this.provider.tokens()?.access_token);
  }

  /** Gets a token, as the library does for providers that it is given themselves. */
  async onUnauthorized({
    response,
    serverUrl,
    fetchFn,
  }: Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]): Promise<void> {
    this.mode = modeAsked(this.server.oauth_dpop, asksForBearersAlone(response));
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    const result = await auth(this.provider, {
      ...{ serverUrl, fetchFn: this.offered.noticedBy(fetchFn) },
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      ...(scope === undefined ? {} : { scope }),
    });
    if (result !== 'AUTHORIZED') throw new UnauthorizedError();
  }

  /** The same fetch, with a proof for each of these tokens that is bound. */
  fetchFor(fetch: Fetch): Fetch {
    return async (to, init) => {
      const shown = new Headers(init?.headers).get('authorization');
      const token = this.bound.find((one) => shown === `Bearer ${one}`);
      return token === undefined ? fetch(to, init) : requestWith({ token, key: this.key }, fetch, to, init);
    };
  }

  /** Before a token is asked for. */
  private async chooseKey({
    authorizationServerMetadata: metadata,
    authorizationServerUrl: url,
  }: OAuthDiscoveryState): Promise<void> {
    const issuer = metadata?.issuer ?? url;
    const offered = this.offered.of(metadata);
    this.key = await this.keys.keyFor(this.server, this.mode, issuer, offered);
  }

  private noteBinding({ access_token: token, token_type: type }: OAuthTokens): void {
    if (this.key === undefined || !isBoundAs(this.mode, this.server.oauth_issuer, type)) return;
    this.bound = [token, ...this.bound].slice(0, REMEMBERED);
  }
}
