import { Injectable } from '@nestjs/common';
import { Redactor } from '../../../platform/logging/redactor.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallOrigin } from '../connection/call-origin.js';
import { modeFor } from '../dpop/dpop-terms.js';
import { variable } from '../transport/credentials.js';
import { AuthorizationServers } from './authorization-servers.js';
import { type GivenToken, KeptTokens, type Proof } from './kept-tokens.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';

/** The most tokens of users that are kept. */
const MAX_TOKENS = 1000;

/** Trades assertions for tokens of users at a server's authorization server (RFC 8693), and keeps them until they expire. */
@Injectable()
export class TokenExchange {
  private readonly kept: KeptTokens;

  constructor(
    private readonly issuers: AuthorizationServers,
    private readonly environment: Environment,
    redactor: Redactor,
  ) {
    this.kept = new KeptTokens(MAX_TOKENS, (tokens) => redactor.setFor('exchanged tokens', tokens));
  }

  /** Concurrent requests share one exchange. Throws with the reason when the issuer gives no token. */
  tokenOf(server: McpServerSettings, origin: CallOrigin, assertion: () => Promise<string>): Promise<Proof> {
    return this.kept.of(keyOf(server, origin), () => this.ask(server, assertion));
  }

  /** The server refused this token. @returns whether another one may be had */
  refuse(server: McpServerSettings, origin: CallOrigin, token: string): boolean {
    return this.kept.refuse(keyOf(server, origin), token);
  }

  private async ask(server: McpServerSettings, assertion: () => Promise<string>): Promise<GivenToken> {
    const { oauth_client_id: id, oauth_client_secret_env: name, oauth_scope: scope, url } = server;
    const request = {
      issuer: server.oauth_issuer,
      client: { id, secret: variable(name, this.environment) },
      form: {
        grant_type: GRANT,
        subject_token: await assertion(),
        subject_token_type: JWT_TYPE,
        requested_token_type: ACCESS_TOKEN_TYPE,
        resource: url,
        ...(scope === '' ? {} : { scope }),
      },
      refusal: 'did not exchange the token of the user',
    };
    return this.issuers.tokenFor(server, request, modeFor(server));
  }
}

/** Tokens belong to a user at a server; the gateway's own assertion has no user. */
function keyOf(server: McpServerSettings, { user = '|' }: CallOrigin): string {
  const { url, oauth_client_id: client, oauth_issuer: issuer, oauth_scope: scope } = server;
  return JSON.stringify([url, client, issuer, scope, user]);
}
