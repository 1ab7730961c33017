import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { Assertions } from '../../assertions/assertions.api.js';
import { type CallOrigin, currentOrigin } from '../connection/call-origin.js';
import { IdentityFailed } from '../connection/mcp-failure.js';
import { hasCredentials } from '../transport/credentials.js';
import { TokenExchange } from './token-exchange.js';

export type Fetch = (to: string | URL, init?: RequestInit) => Promise<Response>;

const UNAUTHORIZED = 401;

/** Proves to HTTP tool servers, with each request, for whom the gateway acts (docs/mcp.md, Identity at the tool). */
@Injectable()
export class ToolIdentity {
  constructor(
    private readonly assertions: Assertions,
    private readonly exchange: TokenExchange,
  ) {}

  /** The same fetch, with the proof. @param owner for whom requests outside of calls are made */
  fetchFor(server: McpServerSettings, owner: CallOrigin, fetch: Fetch): Fetch {
    if (server.identity === 'none') return fetch;
    return async (to, init) => {
      const origin = currentOrigin() ?? owner;
      if (!isServer(server, to) || this.speaksForItself(server, origin)) return fetch(to, init);
      const proof = await this.proofOf(server, origin);
      const response = await fetch(to, { ...init, headers: withProof(server, init, proof.token) });
      // A token that was exchanged earlier may have been revoked since. The server did not run the request.
      if (response.status !== UNAUTHORIZED || !proof.isKept) return response;
      await response.body?.cancel();
      this.exchange.forget(server, origin);
      return fetch(to, {
        ...init,
        headers: withProof(server, init, (await this.proofOf(server, origin)).token),
      });
    };
  }

  /** Whether the gateway lists tools with credentials of its own. */
  private speaksForItself(server: McpServerSettings, { user }: CallOrigin): boolean {
    return user === undefined && hasCredentials(server);
  }

  private async proofOf(
    server: McpServerSettings,
    origin: CallOrigin,
  ): Promise<{ token: string; isKept: boolean }> {
    const { url } = server;
    try {
      if (server.identity === 'assertion')
        return { token: await this.assertions.sign({ ...origin, audience: url }), isKept: false };
      const assertion = () => this.assertions.sign({ ...origin, audience: [url, server.oauth_issuer] });
      return await this.exchange.tokenOf(server, origin, assertion);
    } catch (error) {
      throw new IdentityFailed(sentenceOf(error));
    }
  }
}

/** The library also asks authorization servers, which must not be sent what is meant for the tool server. */
function isServer({ url }: McpServerSettings, to: string | URL): boolean {
  return new URL(to).origin === new URL(url).origin;
}

function withProof(server: McpServerSettings, init: RequestInit | undefined, token: string): Headers {
  const headers = new Headers(init?.headers);
  if (server.identity_header === '') headers.set('authorization', `Bearer ${token}`);
  else headers.set(server.identity_header, token);
  return headers;
}
