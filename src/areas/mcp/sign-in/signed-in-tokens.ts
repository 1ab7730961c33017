import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DpopSession,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokens,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { SignInNeeded } from '../connection/mcp-failure.js';
import type { PresentedToken } from '../dpop/bound-requests.js';
import { isBoundAs, TokenNotBound } from '../dpop/dpop-terms.js';
import { ProofKeys } from '../dpop/proof-keys.js';
import { configuredClient, lifeOf, saidBy, usableToken } from './authorization-answers.js';
import { authorizationFetch } from './authorization-fetch.js';
import { bindingOf, SignIns, type SignInTokens, type StoredTokens } from './sign-ins.store.js';

/** An access token is not used in the last part of its life, at most this long. */
const MARGIN_MS = 60_000;
/** Nor in its last seconds, if it lives longer: issuers count in whole ones, and servers have clocks of their own. */
const LEAST_MARGIN_MS = 2000;
/** How long a request waits for tokens that another replica refreshes, and how often it looks. */
const WAIT_MS = 40_000;
const LOOK_MS = 250;
/** After a refresh that failed, the next one waits this long. */
const PAUSE_MS = 5000;
/** How often tokens whose record failed are recorded again. */
const RECORD_AGAIN_MS = 500;

/** What an authorization server says when it no longer takes a refresh token. */
const GRANT_GONE: ReadonlySet<string> = new Set([OAuthErrorCode.InvalidGrant]);
/** And when it no longer knows a client. */
const CLIENT_GONE: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

export interface Kept extends StoredTokens {
  readonly boundTo: string;
  /** To which the refresh token is bound, and the access token where it says so. */
  readonly key: DpopSession | undefined;
  /** By `performance.now()`. */
  readonly gotAt: number;
}

/**
 * The access tokens of tool servers to which an operator signed in: kept while they live, refreshed once over all replicas
 * (docs/mcp.md, Sign-in with a browser).
 */
@Injectable()
export class SignedInTokens implements OnModuleDestroy {
  private readonly kept = new Map<string, Kept>();
  private readonly refreshing = new Map<string, Promise<Kept>>();
  private readonly failures = new Map<string, { readonly until: number; readonly error: Error }>();
  /** How often each was forgotten: what was read before is not kept. */
  private readonly forgets = new Map<string, number>();
  private readonly logger: Logger;
  private isStopped = false;

  constructor(
    private readonly signIns: SignIns,
    private readonly outbound: OutboundClient,
    private readonly environment: Environment,
    private readonly redactor: Redactor,
    private readonly keys: ProofKeys,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp');
  }

  onModuleDestroy(): void {
    this.isStopped = true;
  }

  /** The next request looks anew. */
  forget(server: string): void {
    this.forgets.set(server, this.forgetsOf(server) + 1);
    this.failures.delete(server);
    this.kept.delete(server);
  }

  private forgetsOf(server: string): number {
    return this.forgets.get(server) ?? 0;
  }

  /** Good ones, as far as their issuer said. Throws `SignInNeeded`, and what is wrong at the moment. */
  async current(server: string, settings: McpServerSettings): Promise<Kept> {
    const boundTo = bindingOf(settings);
    const known = this.kept.get(server);
    const kept = known?.boundTo === boundTo ? known : await this.read(server, boundTo);
    if (settings.oauth_dpop === 'always' && kept.tokens.isBound !== true)
      throw new SignInNeeded(server, 'oauth_dpop = "always", and its tokens are bound to no key');
    const leftMs = leftOf(kept);
    if (leftMs === undefined || leftMs > marginOf(kept)) return kept;
    if (leftMs <= 0) return this.refreshed(server, settings, kept);
    // It is still good: nobody waits for the next one.
    this.refreshed(server, settings, kept).catch(() => undefined);
    return kept;
  }

  private async read(server: string, boundTo: string): Promise<Kept> {
    const forgets = this.forgetsOf(server);
    const stored = await this.signIns.tokensOf(server, boundTo);
    if ('problem' in stored) throw new SignInNeeded(server, stored.problem);
    const key = stored.tokens.key && (await this.keys.restored(stored.tokens.key));
    const kept = { ...stored, boundTo, key, gotAt: performance.now() };
    return forgets === this.forgetsOf(server) ? this.keep(server, kept) : kept;
  }

  private keep(server: string, kept: Kept): Kept {
    const before = this.kept.get(server)?.tokens.accessToken;
    this.kept.set(server, kept);
    const { accessToken, refreshToken, information, key } = kept.tokens;
    const secrets = [accessToken, refreshToken, information.client_secret, key?.jwk.d, before];
    this.redactor.setFor(
      `sign-in to ${server}`,
      secrets.flatMap((secret) => secret ?? []),
    );
    return kept;
  }

  /** One refresh for all who ask at once. After one that failed there is a pause. */
  refreshed(server: string, settings: McpServerSettings, old: Kept): Promise<Kept> {
    const failure = this.failures.get(server);
    if (failure !== undefined && failure.until > performance.now()) return Promise.reject(failure.error);
    const key = `${server} ${old.boundTo}`;
    const running = this.refreshing.get(key);
    if (running !== undefined) return running;
    const refresh = this.refresh(server, settings, old)
      .catch((error: unknown) => {
        const failed = error instanceof Error ? error : new Error(String(error));
        if (!(failed instanceof SignInNeeded))
          this.failures.set(server, { until: performance.now() + PAUSE_MS, error: failed });
        throw failed;
      })
      .finally(() => this.refreshing.delete(key));
    this.refreshing.set(key, refresh);
    return refresh;
  }

  private async refresh(server: string, settings: McpServerSettings, old: Kept): Promise<Kept> {
    const { boundTo, version } = old;
    for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(LOOK_MS)) {
      const stored = await this.read(server, boundTo);
      if (stored.version !== version) return stored;
      const { refreshToken } = stored.tokens;
      if (refreshToken === undefined) return this.endOf(server, stored);
      if (await this.signIns.lease(server, version))
        return this.exchange(server, settings, stored, refreshToken);
    }
    throw new Error('the tokens for the server could not be refreshed in time: another replica is at it');
  }

  /** Without a refresh token the access token is good until its end. */
  private async endOf(server: string, stored: Kept): Promise<Kept> {
    const leftMs = leftOf(stored);
    if (leftMs === undefined || leftMs > 0) return stored;
    return this.lost(server, stored.version, 'its access token has expired, and there is no refresh token');
  }

  private async exchange(
    server: string,
    settings: McpServerSettings,
    stored: Kept,
    refreshToken: string,
  ): Promise<Kept> {
    const { tokens, version } = stored;
    try {
      const given = await this.askForNext(settings, stored, refreshToken);
      const next: SignInTokens = {
        ...tokens,
        ...boundBy(settings, stored, given),
        accessToken: usableToken(given.access_token),
        refreshToken: given.refresh_token ?? refreshToken,
        scope: given.scope ?? tokens.scope,
      };
      return await this.recorded(server, stored, next, lifeOf(given));
    } catch (error) {
      if (error instanceof SignInNeeded) throw error;
      const said = saidBy(error, (text) => this.redactor.redact(text));
      const code: string = error instanceof OAuthError ? error.code : '';
      // Of a client of the settings it says that these are wrong, and nothing of what was granted.
      const isGone = settings.oauth_client_id === '' && CLIENT_GONE.has(code);
      // The refresh token is used up, so that asking again is of no use.
      const isUnbound = error instanceof TokenNotBound;
      if (GRANT_GONE.has(code) || isGone || isUnbound) return this.lost(server, version, said, isGone);
      await this.signIns.release(server, version).catch(() => undefined);
      this.logger.warn('the tokens for a tool server could not be refreshed; will retry', {
        ...{ server, error: said },
      });
      throw new Error(said, { cause: error });
    }
  }

  private askForNext(settings: McpServerSettings, { tokens, key }: Kept, refreshToken: string) {
    const { authorizationServer, metadata, information, resource } = tokens;
    return refreshAuthorization(authorizationServer, {
      clientInformation: configuredClient(settings, this.environment) ?? information,
      ...{ refreshToken, fetchFn: authorizationFetch(this.outbound) },
      ...(key === undefined ? {} : { dpop: key }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(resource === undefined ? {} : { resource }),
    });
  }

  /** The tokens of before are used up: while these cannot be recorded, they are used all the same, and recorded later. */
  private async recorded(
    server: string,
    { version, boundTo, key }: Kept,
    next: SignInTokens,
    lives: number | undefined,
  ): Promise<Kept> {
    const expiresAt = lives === undefined ? undefined : new Date(Date.now() + lives * 1000);
    const kept = { tokens: next, version: version + 1, expiresAt, boundTo, key, gotAt: performance.now() };
    this.keep(server, kept);
    try {
      if ((await this.signIns.renew(server, version, next, lives)) !== undefined) return kept;
    } catch (error) {
      this.logger.warn('new tokens for a tool server could not be recorded; will retry', {
        ...{ server, error: sentenceOf(error) },
      });
      void this.recordLater(server, version, next, expiresAt);
      return kept;
    }
    this.forget(server);
    return this.read(server, boundTo);
  }

  private async recordLater(
    server: string,
    version: number,
    next: SignInTokens,
    expiresAt: Date | undefined,
  ): Promise<void> {
    while (!this.isStopped) {
      await sleep(RECORD_AGAIN_MS, undefined, { ref: false });
      const lives =
        expiresAt === undefined ? undefined : Math.max(1, (expiresAt.getTime() - Date.now()) / 1000);
      try {
        if ((await this.signIns.renew(server, version, next, lives)) === undefined) this.forget(server);
        return;
      } catch {
        // The database is still away.
      }
    }
  }

  isRefreshing(server: string, { boundTo }: Kept): Promise<Kept> | undefined {
    return this.refreshing.get(`${server} ${boundTo}`);
  }

  private async lost(
    server: string,
    version: number,
    problem: string,
    forgetsClient = false,
  ): Promise<never> {
    await this.signIns.lose(server, version, problem, forgetsClient);
    this.kept.delete(server);
    throw new SignInNeeded(server, problem);
  }
}

/** What goes with requests to the tool server. */
export function presentedOf({ tokens, key }: Kept): PresentedToken {
  return { token: tokens.accessToken, key: tokens.isBound === true ? key : undefined };
}

/** Whether the next access token is bound to the key of its refresh token. */
function boundBy({ oauth_dpop: mode }: McpServerSettings, { tokens, key }: Kept, given: OAuthTokens) {
  if (key === undefined) return {};
  const issuer = tokens.metadata?.issuer ?? tokens.authorizationServer;
  return { isBound: isBoundAs(mode, issuer, given.token_type) };
}

/** Milliseconds until it expires; undefined when its issuer does not say. */
function leftOf({ expiresAt }: Kept): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt.getTime() - Date.now();
}

/** A tenth of its life as it was when it was read, within these bounds; half of it when it lives very shortly. */
function marginOf(kept: Kept): number {
  const lifeMs = (leftOf(kept) ?? 0) + performance.now() - kept.gotAt;
  return Math.min(MARGIN_MS, lifeMs / 2, Math.max(LEAST_MARGIN_MS, lifeMs / 10));
}
