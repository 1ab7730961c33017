import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { RecentSecrets } from '../../../platform/logging/recent-secrets.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { Assertions } from '../../assertions/assertions.api.js';
import { type CallOrigin, currentOrigin } from '../connection/call-origin.js';
import { CredentialsUnreadable, IdentityFailed } from '../connection/mcp-failure.js';
import { requestWith } from '../dpop/bound-requests.js';
import { hasCredentials, hasOwnAccount } from '../transport/credentials.js';
import { CrossAppTokens } from './cross-app-tokens.js';
import { type Proof, requestProven } from './kept-tokens.js';
import { TokenExchange } from './token-exchange.js';

/** The most assertions that are hidden: each is good for a minute. */
const MAX_SHOWN = 400;

export type Fetch = (to: string | URL, init?: RequestInit) => Promise<Response>;

/** Proves to HTTP tool servers, with each request, for whom the gateway acts (docs/mcp.md, Identity at the tool). */
@Injectable()
export class ToolIdentity {
  /** A tool server may repeat what it is shown. */
  private readonly shown: RecentSecrets;

  constructor(
    private readonly assertions: Assertions,
    private readonly exchange: TokenExchange,
    private readonly crossApp: CrossAppTokens,
    redactor: Redactor,
  ) {
    this.shown = new RecentSecrets(redactor, 'assertions shown to tool servers', MAX_SHOWN);
  }

  /** The same fetch, with the proof. @param owner for whom requests outside of calls are made */
  fetchFor(server: McpServerSettings, owner: CallOrigin, fetch: Fetch): Fetch {
    if (server.identity === 'none') return fetch;
    return async (to, init) => {
      const origin = currentOrigin() ?? owner;
      if (!isOfServer(server, to) || this.speaksForItself(server, origin)) return fetch(to, init);
      const source = server.identity === 'cross_app' ? this.crossApp : this.exchange;
      return requestProven(
        () => this.proofOf(server, origin),
        (token) => source.refuse(server, origin, token),
        (proof) => sent(server, proof, fetch, to, init),
      );
    };
  }

  /** Whether the gateway lists tools with credentials of its own. */
  private speaksForItself(server: McpServerSettings, { user }: CallOrigin): boolean {
    return user === undefined && hasCredentials(server) && !hasOwnAccount(server);
  }

  private async proofOf(server: McpServerSettings, origin: CallOrigin): Promise<Proof> {
    const { url } = server;
    try {
      if (server.identity === 'assertion') {
        const token = await this.assertions.sign({ ...origin, audience: url });
        this.shown.add(token);
        return { token, isKept: false };
      }
      if (server.identity === 'cross_app') return await this.crossApp.tokenOf(server, origin);
      const assertion = () => this.assertions.sign({ ...origin, audience: [url, server.oauth_issuer] });
      return await this.exchange.tokenOf(server, origin, assertion);
    } catch (error) {
      throw error instanceof CredentialsUnreadable ? error : new IdentityFailed(sentenceOf(error));
    }
  }
}

/** The library also calls authorization servers, which must not get what is meant for the tool server. */
export function isOfServer({ url }: McpServerSettings, to: string | URL): boolean {
  return new URL(to).origin === new URL(url).origin;
}

function sent(
  { identity_header: header }: McpServerSettings,
  proof: Proof,
  fetch: Fetch,
  ...[to, init]: Parameters<Fetch>
): Promise<Response> {
  if (header === '') return requestWith(proof, fetch, to, init);
  const headers = new Headers(init?.headers);
  headers.set(header, proof.token);
  return fetch(to, { ...init, headers });
}
