import { Injectable } from '@nestjs/common';
import { openIdentityToken } from '../../../platform/identity/identity-token.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { CannotOpen, SecretBox } from '../../../platform/secrets/secret-box.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallOrigin } from '../connection/call-origin.js';
import { modeFor } from '../dpop/dpop-terms.js';
import { variable } from '../transport/credentials.js';
import { AuthorizationServers, type OAuthClient, tokenIn } from './authorization-servers.js';
import { type GivenToken, KeptTokens, type Proof } from './kept-tokens.js';
import { endOfToken, tokenInFile } from './token-file.js';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';
const ID_JAG = `${TOKEN_TYPE}id-jag`;

/** The most tokens of users that are kept. */
const MAX_TOKENS = 1000;

/**
 * Trades the token with which a person came for a token of theirs at a tool server (cross-app access): the company's identity
 * provider exchanges it for an ID-JAG, which says that this person may use this server from here, and the server's authorization
 * server takes that (RFC 8693, RFC 7523). Only for calls that the person's own token began.
 */
@Injectable()
export class CrossAppTokens {
  private readonly kept: KeptTokens;

  constructor(
    private readonly issuers: AuthorizationServers,
    private readonly environment: Environment,
    private readonly box: SecretBox,
    redactor: Redactor,
  ) {
    this.kept = new KeptTokens(MAX_TOKENS, (tokens) => redactor.setFor('cross-app tokens', tokens));
  }

  /** Concurrent requests share one exchange. Throws which step failed, and what is to do. */
  async tokenOf(server: McpServerSettings, origin: CallOrigin): Promise<Proof> {
    // Whoever names a person, without their token, gets none of theirs, not even a kept one.
    if (origin.user !== undefined && origin.identityToken === undefined)
      throw new Error(
        `this needs a token of ${server.idp_issuer}, and the message came without one. The user calls the gateway with their own token of it, not over a channel or with an API token`,
      );
    return this.kept.of(keyOf(server, origin), () => this.ask(server, origin));
  }

  /** The server refused this token. @returns whether another one may be had */
  refuse(server: McpServerSettings, origin: CallOrigin, token: string): boolean {
    return this.kept.refuse(keyOf(server, origin), token);
  }

  private async ask(server: McpServerSettings, origin: CallOrigin): Promise<GivenToken> {
    const subject = await this.subjectOf(server, origin);
    const jag = await this.jagFor(server, subject);
    const { oauth_issuer: issuer, oauth_client_id: id, oauth_client_secret_env: name } = server;
    const request = {
      issuer,
      client: { id, secret: variable(name, this.environment) },
      form: { grant_type: JWT_BEARER, assertion: jag, ...scopeOf(server) },
      refusal: `did not take what ${server.idp_issuer} gave for this user (step 2 of 2, ID-JAG)`,
    };
    return this.issuers.tokenFor(server, request, modeFor(server));
  }

  private async jagFor(server: McpServerSettings, subject: string): Promise<string> {
    const { idp_issuer: issuer } = server;
    const answer = await this.issuers.answerTo({
      issuer,
      client: this.clientAtProvider(server),
      form: {
        grant_type: EXCHANGE,
        subject_token: subject,
        subject_token_type: `${TOKEN_TYPE}${server.idp_token_type}`,
        requested_token_type: ID_JAG,
        audience: server.oauth_issuer,
        resource: server.url,
        ...scopeOf(server),
      },
      refusal: `gave this user no access to ${server.oauth_issuer} (step 1 of 2, ID-JAG)`,
    });
    if (answer['issued_token_type'] !== ID_JAG)
      throw new Error(`${issuer} answered the exchange with something else than an ID-JAG (step 1 of 2)`);
    return tokenIn(answer, issuer).token;
  }

  private clientAtProvider({
    idp_client_id: id,
    idp_client_secret_env: name,
  }: McpServerSettings): OAuthClient {
    return name === '' ? { id } : { id, secret: variable(name, this.environment) };
  }

  /** The token of the person, or of the gateway's own account. */
  private async subjectOf(
    { idp_issuer: issuer, idp_token_file: file }: McpServerSettings,
    { user, identityToken: sealed }: CallOrigin,
  ): Promise<string> {
    if (user === undefined || sealed === undefined)
      return tokenInFile(file, "The token of the gateway's own account (idp_token_file)");
    if (!user.startsWith(`${issuer}|`))
      throw new Error(`this needs a token of ${issuer}, and the user came with one of somebody else`);
    const token = this.opened(user, sealed);
    if ((endOfToken(token) ?? 0) > Date.now()) return token;
    throw new Error(
      `the token of ${issuer} with which the user came has ended. They send another message with a new one`,
    );
  }

  private opened(user: string, sealed: string): string {
    try {
      return openIdentityToken(this.box, user, sealed);
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      throw new Error(
        'the token with which the user came can no longer be opened. They send another message with a new one',
        { cause: error },
      );
    }
  }
}

function scopeOf({ oauth_scope: scope }: McpServerSettings): { scope?: string } {
  return scope === '' ? {} : { scope };
}

/** Tokens belong to a user at a server; the gateway's own account has no user. */
function keyOf(server: McpServerSettings, { user = '|' }: CallOrigin): string {
  const { url, oauth_client_id: client, oauth_issuer: issuer, oauth_scope: scope } = server;
  return JSON.stringify([url, client, issuer, scope, server.idp_issuer, server.idp_client_id, user]);
}
