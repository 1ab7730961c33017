import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { type CallOrigin, currentOrigin } from '../connection/call-origin.js';
import { CredentialsUnreadable, TokensUnavailable } from '../connection/mcp-failure.js';
import { requestWith } from '../dpop/bound-requests.js';
import { needsCredentials } from '../transport/credentials.js';
import { AuthorizationServers } from './authorization-servers.js';
import { type GivenToken, KeptTokens, type Proof, requestProven } from './kept-tokens.js';
import { tokenInFile } from './token-file.js';
import { type Fetch, isOfServer } from './tool-identity.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** More than any installation has tool servers. */
const MAX_TOKENS = 1000;

/**
 * The gateway's own access tokens at tool servers, for which their authorization servers take the token that the platform gave the
 * gateway (RFC 7523, a workload's identity): one for each server, for all connections (docs/mcp.md).
 */
@Injectable()
export class WorkloadTokens {
  private readonly kept: KeptTokens;
  /** What the log was told last, by server: as many as are configured. */
  private readonly problems = new Map<string, string>();
  private readonly logger: Logger;

  constructor(
    private readonly issuers: AuthorizationServers,
    private readonly redactor: Redactor,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp');
    this.kept = new KeptTokens(MAX_TOKENS, (tokens) => redactor.setFor('workload tokens', tokens));
  }

  /** The same fetch, with such a token where the gateway shows credentials of its own. @param owner of requests outside of calls */
  fetchFor(name: string, server: McpServerSettings, owner: CallOrigin, fetch: Fetch): Fetch {
    if (server.oauth_workload_token_file === '') return fetch;
    return async (to, init) => {
      if (!isOfServer(server, to) || !needsCredentials(server, currentOrigin() ?? owner))
        return fetch(to, init);
      return requestProven(
        () => this.tokenOf(name, server),
        (token) => this.kept.refuse(keyOf(server), token),
        (proof) => requestWith(proof, fetch, to, init),
      );
    };
  }

  private async tokenOf(name: string, server: McpServerSettings): Promise<Proof> {
    try {
      const found = await this.kept.of(keyOf(server), () => this.ask(name, server));
      this.problems.delete(name);
      return found;
    } catch (error) {
      this.report(name, this.redactor.redact(sentenceOf(error)));
      throw error instanceof CredentialsUnreadable ? error : new TokensUnavailable(error);
    }
  }

  /** Callers are not told where files are, and each of them would be told the same. */
  private report(server: string, error: string): void {
    if (this.problems.get(server) === error) return;
    this.problems.set(server, error);
    this.logger.warn('the gateway gets no token for a tool server; will retry', { server, error });
  }

  private async ask(name: string, server: McpServerSettings): Promise<GivenToken> {
    const { oauth_issuer: issuer, oauth_client_id: id, oauth_scope: scope, url } = server;
    const assertion = await tokenInFile(
      server.oauth_workload_token_file,
      `The platform's token for ${name} (oauth_workload_token_file)`,
    );
    this.redactor.setFor(`platform token for ${name}`, [assertion]);
    return this.issuers.tokenFor(server, {
      issuer,
      client: { id },
      form: { grant_type: GRANT, assertion, resource: url, ...(scope === '' ? {} : { scope }) },
      refusal: 'did not take the token of the platform in oauth_workload_token_file',
    });
  }
}

function keyOf(server: McpServerSettings): string {
  const { url, oauth_issuer: issuer, oauth_client_id: client, oauth_scope: scope } = server;
  return JSON.stringify([url, issuer, client, scope, server.oauth_workload_token_file]);
}
