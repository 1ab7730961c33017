import { randomBytes } from 'node:crypto';
import {
  extractWWWAuthenticateParams,
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/client';
import type { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { asksForBearersAlone } from '../dpop/bound-requests.js';
import { algorithmFor, type DpopMode } from '../dpop/dpop-terms.js';
import { OfferedAlgorithms } from '../dpop/offered-algorithms.js';
import { newProofKey, type ProofKeys, type StoredProofKey } from '../dpop/proof-keys.js';
import type { SignInFlow } from './sign-ins.store.js';

const STATE_BYTES = 32;
const UNAUTHORIZED = 401;
const CHALLENGE_MS = 10_000;
const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const LIST_TOOLS = { method: 'tools/list', params: {} };
const INITIALIZE = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'agent-gateway', version: '1' },
  },
};

type Challenge = ReturnType<typeof extractWWWAuthenticateParams> & {
  readonly isForBearersAlone: boolean;
};

/** What the server wants of those who come without a token. Some let them begin a session and ask for the token afterwards. */
export async function challengeOf(
  { url, headers }: McpServerSettings,
  { fetch }: OutboundClient,
): Promise<Challenge> {
  for (const request of [LIST_TOOLS, INITIALIZE]) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, ...ACCEPT },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...request }),
      signal: AbortSignal.timeout(CHALLENGE_MS),
    });
    await response.body?.cancel();
    if (response.status === UNAUTHORIZED)
      return {
        ...extractWWWAuthenticateParams(response),
        isForBearersAlone: asksForBearersAlone(response),
      };
  }
  return { isForBearersAlone: false };
}

/** What the library asks and tells on the way to the page at which a person signs in. */
export class BeginningFlow implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  readonly redirectUrl: string;
  /** Has to see what the library reads. */
  readonly offered = new OfferedAlgorithms();
  private readonly ownState = randomBytes(STATE_BYTES).toString('base64url');
  private discovered: OAuthDiscoveryState | undefined;
  private verifier = '';
  private page: URL | undefined;
  private resource: string | undefined;
  private key: StoredProofKey | undefined;
  /** The thumbprint of that key. */
  private keyName: string | undefined;

  constructor(
    private readonly server: McpServerSettings,
    private readonly binding: { readonly mode: DpopMode; readonly keys: ProofKeys },
    private client: OAuthClientInformationMixed | undefined,
    readonly clientMetadata: OAuthClientMetadata & { readonly redirect_uris: string[] },
    clientId: string,
  ) {
    this.redirectUrl = clientMetadata.redirect_uris[0] ?? '';
    if (clientId.startsWith('https:')) this.clientMetadataUrl = clientId;
  }

  begun(): { url: string; state: string; flow: Omit<SignInFlow, 'boundTo' | 'by'> } {
    const { page, discovered, client } = this;
    if (page === undefined || discovered === undefined || client === undefined)
      throw new Error('the authorization server led nowhere');
    return {
      ...{ url: page.href, state: this.ownState },
      flow: {
        authorizationServer: discovered.authorizationServerUrl,
        metadata: discovered.authorizationServerMetadata,
        ...{ information: client, redirectUrl: this.redirectUrl, resource: this.resource },
        ...{ codeVerifier: this.verifier, key: this.key, scope: page.searchParams.get('scope') ?? undefined },
      },
    };
  }

  state(): string {
    return this.ownState;
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client;
  }

  tokens(): undefined {
    return undefined;
  }

  saveTokens(): void {
    throw new Error('the authorization server gave tokens before anybody signed in');
  }

  redirectToAuthorization(page: URL): void {
    if (!/^https?:$/.test(page.protocol))
      throw new Error(`its page for people is no web page but ${page.protocol}`);
    // Whoever gets hold of the code cannot redeem it without the key (RFC 9449, 10).
    if (this.keyName !== undefined) page.searchParams.set('dpop_jkt', this.keyName);
    this.page = page;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  saveResourceUrl(resource: string): void {
    this.resource = resource;
  }

  /** Before anything is sent to it: what the settings name is the only one that may be used. */
  async saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    const found = state.authorizationServerMetadata?.issuer ?? state.authorizationServerUrl;
    const { oauth_issuer: issuer } = this.server;
    const { mode, keys } = this.binding;
    if (issuer !== '' && issuer !== found)
      throw new Error(
        `the authorization server of the tool server is ${found}, and its oauth_issuer says ${issuer}`,
      );
    this.discovered = state;
    const alg = algorithmFor(mode, found, this.offered.of(state.authorizationServerMetadata));
    if (alg === undefined) return;
    this.key = await newProofKey(alg);
    this.keyName = (await keys.restored(this.key)).thumbprint;
  }
}
