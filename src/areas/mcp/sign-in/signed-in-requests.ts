import {
  type AuthProvider,
  computeScopeUnion,
  extractWWWAuthenticateParams,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { MoreScopeNeeded, SignInNeeded, TokenRefused, TokensUnavailable } from '../connection/mcp-failure.js';
import { requestWith } from '../dpop/bound-requests.js';
import type { Fetch } from '../identity/tool-identity.js';
import { bindingOf, MAX_SCOPE, SignIns } from './sign-ins.store.js';
import { type Kept, presentedOf, SignedInTokens } from './signed-in-tokens.js';

/** A server that refuses every token makes the gateway refresh no more often than this. */
const FORCED_EVERY_MS = 30_000;
/** What scopes consist of (RFC 6749, 3.3). */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** Puts the tokens of sign-ins into requests to tool servers, and understands what these answer to them. */
@Injectable()
export class SignedInRequests {
  /** By server, the last token that was got because it had refused another, and when, by `performance.now()`. */
  private readonly forced = new Map<string, { readonly token: string; readonly at: number }>();
  private readonly logger: Logger;

  constructor(
    private readonly tokens: SignedInTokens,
    private readonly signIns: SignIns,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp');
  }

  /** For the transport of this server. Its requests fail with `SignInNeeded` while nobody is signed in. */
  providerOf(server: string, settings: McpServerSettings): AuthProvider {
    return { token: () => this.tokenOf(server, settings) };
  }

  /**
   * The same fetch: a request whose token the server refuses is made again with the next one, and that the server wants more rights
   * is remembered for the next sign-in.
   */
  fetchFor(server: string, settings: McpServerSettings, fetch: Fetch): Fetch {
    return async (to, init) => {
      const kept = await orUnavailable(this.tokens.current(server, settings));
      const response = await requestWith(presentedOf(kept), fetch, to, init);
      if (response.status === FORBIDDEN) await this.noticeScope(server, settings, response);
      if (response.status !== UNAUTHORIZED) return response;
      const next = await this.tokenAfter(kept.tokens.accessToken, server, settings);
      await response.body?.cancel();
      if (next === undefined) throw new TokenRefused(server);
      return requestWith(presentedOf(next), fetch, to, init);
    };
  }

  private async tokenOf(server: string, settings: McpServerSettings): Promise<string> {
    return (await orUnavailable(this.tokens.current(server, settings))).tokens.accessToken;
  }

  /** Another token than the one that was refused; undefined when a refresh would most likely bring none that is taken. */
  private async tokenAfter(
    refused: string,
    server: string,
    settings: McpServerSettings,
  ): Promise<Kept | undefined> {
    const known = await orUnavailable(this.tokens.current(server, settings));
    if (known.tokens.accessToken !== refused) return known;
    const running = this.tokens.isRefreshing(server, known);
    if (running !== undefined) return orUnavailable(running);
    if (known.tokens.refreshToken === undefined) return undefined;
    const last = this.forced.get(server);
    if (last?.token === refused && performance.now() - last.at < FORCED_EVERY_MS) return undefined;
    const next = await orUnavailable(this.tokens.refreshed(server, settings, known));
    this.forced.set(server, { token: next.tokens.accessToken, at: performance.now() });
    return next;
  }

  private async noticeScope(server: string, settings: McpServerSettings, response: Response): Promise<void> {
    const { error, scope: wanted } = extractWWWAuthenticateParams(response);
    if (error !== 'insufficient_scope') return;
    await response.body?.cancel();
    const scope =
      wanted !== undefined && wanted.length <= MAX_SCOPE && SCOPES.test(wanted) ? wanted : undefined;
    const isFixed = settings.oauth_scope !== '';
    if (scope !== undefined && !isFixed) {
      const granted = await this.tokens.current(server, settings).then(
        ({ tokens }) => tokens.scope,
        () => undefined,
      );
      await this.signIns
        .want(server, bindingOf(settings), computeScopeUnion(granted, scope) ?? scope)
        .catch((failure: unknown) =>
          this.logger.warn('the scopes that a tool server wants could not be noted for the next sign-in', {
            ...{ server, error: sentenceOf(failure) },
          }),
        );
    }
    throw new MoreScopeNeeded(server, scope, isFixed);
  }
}

function orUnavailable<Result>(tokens: Promise<Result>): Promise<Result> {
  return tokens.catch((error: unknown) => {
    throw error instanceof SignInNeeded ? error : new TokensUnavailable(error);
  });
}
