import { auth, computeScopeUnion, type OAuthClientMetadata } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { Unavailable } from '../../../common/errors/gateway-error.js';
import { withoutEndSlashes } from '../../../common/text/without-end-slashes.js';
import { ADMIN_PREFIX } from '../../../http/profiles/faces.js';
import { AuditLog } from '../../../platform/audit-log/audit-log.js';
import { currentOrigin } from '../../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { Settings } from '../../../platform/settings/settings.js';
import { modeAsked } from '../dpop/dpop-terms.js';
import { ProofKeys } from '../dpop/proof-keys.js';
import { McpServerNotFound } from '../mcp-servers.service.js';
import { configuredClient, revokeTokens, saidBy } from './authorization-answers.js';
import { authorizationFetch } from './authorization-fetch.js';
import { BeginningFlow, challengeOf } from './beginning-flow.js';
import { type Granted, redeemedCode, type SignInAnswer } from './redeemed-code.js';
import { clientDocument, clientMetadata, registeredClient } from './registered-client.js';
import { NoSignInThere, SignInFailed, SignInRefused } from './sign-in.errors.js';
import { SignInWatch } from './sign-in-watch.service.js';
import { bindingOf, type SignInFlow, SignIns, type SignInTokens } from './sign-ins.store.js';

/** Below the operators' API; `gateway.public_url` leads to it. */
export const SIGN_IN_PATHS = {
  controller: 'mcp/sign-in',
  callback: 'callback',
  client: 'client.json',
} as const;

export interface SignInLink {
  readonly url: string;
  /** The authorization server that asks there, by its own name. */
  readonly issuer: string;
  /** What is asked for; undefined for whatever that server gives. */
  readonly scope: string | undefined;
  readonly endsAt: Date;
}

/** Lets operators sign in to tool servers with a browser, and tells the connections of every replica (docs/mcp.md). */
@Injectable()
export class SignInService {
  private readonly logger: Logger;

  constructor(
    private readonly signIns: SignIns,
    private readonly settings: Settings,
    private readonly outbound: OutboundClient,
    private readonly environment: Environment,
    private readonly redactor: Redactor,
    private readonly keys: ProofKeys,
    private readonly audit: AuditLog,
    private readonly watch: SignInWatch,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp');
  }

  /** Throws the same `McpServerNotFound` for every server without a sign-in: nobody learns here which others there are. */
  requireSignIn(name: string): void {
    const { servers } = this.settings.current.mcp;
    if (!Object.hasOwn(servers, name) || servers[name]?.oauth_sign_in !== true) throw new McpServerNotFound();
  }

  /** That document, whose address is the id of the client. */
  clientDocument(name: string): OAuthClientMetadata & { readonly client_id: string } {
    this.requireSignIn(name);
    return clientDocument(this.url(name, SIGN_IN_PATHS.client), this.url(name, SIGN_IN_PATHS.callback));
  }

  /** Throws `McpServerNotFound`, `NoSignInThere` and `SignInFailed`. @returns the page at which a person signs in */
  async begin(name: string): Promise<SignInLink> {
    const server = this.serverOf(name);
    const boundTo = bindingOf(server);
    const { client, wantedScope } = await this.signIns.clientOf(name, boundTo);
    let begun: ReturnType<BeginningFlow['begun']>;
    try {
      const { resourceMetadataUrl, scope, isForBearersAlone } = await challengeOf(server, this.outbound);
      // A server may not widen what the settings say.
      const wanted = server.oauth_scope || computeScopeUnion(scope, wantedScope);
      const callback = this.url(name, SIGN_IN_PATHS.callback);
      const flow = new BeginningFlow(
        server,
        { mode: modeAsked(server.oauth_dpop, isForBearersAlone), keys: this.keys },
        configuredClient(server, this.environment) ?? registeredClient(client, callback, wanted),
        clientMetadata(callback),
        this.url(name, SIGN_IN_PATHS.client),
      );
      await auth(flow, {
        ...{ serverUrl: server.url, fetchFn: flow.offered.noticedBy(authorizationFetch(this.outbound)) },
        ...(wanted === undefined ? {} : { scope: wanted }),
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      });
      begun = flow.begun();
    } catch (error) {
      const reason = this.said(error);
      await this.audit.record({
        ...{ action: 'mcp.sign_in_begun', target: name, outcome: 'failure', details: { reason } },
      });
      throw new SignInFailed(name, reason);
    }
    const by = currentOrigin()?.actor ?? 'an operator';
    const endsAt = await this.signIns.begin(name, begun.state, { ...begun.flow, boundTo, by });
    await this.audit.record({ action: 'mcp.sign_in_begun', target: name, outcome: 'success' });
    const { metadata, authorizationServer, scope } = begun.flow;
    return { url: begun.url, issuer: metadata?.issuer ?? authorizationServer, scope, endsAt };
  }

  /** Takes what the browser brings back to the page of this server. Throws `SignInRefused`, and `Unavailable` when it cannot be kept. */
  async finish(name: string, { state, ...answer }: SignInAnswer): Promise<void> {
    const taken = await this.signIns.take(state);
    if (taken === undefined) {
      this.requireSignIn(name);
      throw new SignInRefused('This link is unknown, was used already, or is too old.');
    }
    const { flow, changes } = taken;
    this.hide(taken.server, flow, answer);
    let got: Granted;
    try {
      // One page for each: what another server's authorization server sends is not taken for this one's (RFC 9700, 4.4.2).
      if (taken.server !== name) throw new Error('the browser came back from the sign-in to another server');
      const server = this.serverOf(name);
      if (bindingOf(server) !== flow.boundTo) throw new Error('the settings of the server changed meanwhile');
      const fetchFn = authorizationFetch(this.outbound);
      got = await redeemedCode(flow, answer, { mode: server.oauth_dpop, keys: this.keys, fetchFn });
    } catch (error) {
      const reason = this.said(error);
      await this.audit.record({
        ...{ action: 'mcp.signed_in', actor: flow.by, target: taken.server, outcome: 'failure' },
        details: { reason },
      });
      throw new SignInRefused(`The sign-in to ${taken.server} failed: ${reason}.`);
    }
    await this.keep(name, { ...flow, changes }, got);
    await this.watch.follow();
  }

  /** Forgets the tokens, here and at the authorization server if it lets them be revoked. Throws `McpServerNotFound`. */
  async end(name: string): Promise<void> {
    const ended = await this.signIns.end(name);
    if (ended === undefined) {
      this.serverOf(name);
      return;
    }
    await this.watch.follow();
    if (ended.tokens !== undefined) await this.revoke(name, ended.tokens);
  }

  private serverOf(name: string): McpServerSettings {
    const { servers } = this.settings.current.mcp;
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (server?.enabled !== true) throw new McpServerNotFound();
    if (!server.oauth_sign_in) throw new NoSignInThere(name);
    return server;
  }

  /** The authorization server may repeat what it is told, long before there are tokens. */
  private hide(
    server: string,
    { information, codeVerifier, key }: SignInFlow,
    { code }: { code?: string | undefined },
  ): void {
    const secrets = [code, codeVerifier, information.client_secret, key?.jwk.d];
    this.redactor.setFor(
      `beginning sign-in to ${server}`,
      secrets.flatMap((secret) => secret ?? []),
    );
  }

  private said(error: unknown): string {
    return saidBy(error, (text) => this.redactor.redact(text));
  }

  private url(name: string, page: string): string {
    const base = withoutEndSlashes(this.settings.current.gateway.public_url);
    return `${base}/${ADMIN_PREFIX}/${SIGN_IN_PATHS.controller}/${name}/${page}`;
  }

  /**
   * What cannot be kept is given back, so that nobody has tokens of which nobody knows. Not beside an earlier sign-in: servers that take one
   * token back may end all that the same person granted.
   */
  private async keep(
    name: string,
    flow: SignInFlow & { readonly changes: number },
    { tokens, lives }: Granted,
  ): Promise<void> {
    let problem: unknown = 'somebody signed in or out meanwhile';
    try {
      if (await this.signIns.finish(name, flow, tokens, lives)) return;
    } catch (error) {
      problem = error;
    }
    this.logger.error('a sign-in to a tool server could not be kept', {
      ...{ server: name, error: sentenceOf(problem) },
    });
    const stored = await this.signIns.tokensOf(name, flow.boundTo).catch(() => undefined);
    if (stored !== undefined && 'problem' in stored) await this.revoke(name, tokens);
    throw new Unavailable(
      'The gateway could not keep this sign-in; its log says why. Ask for a new link with: agent-gateway mcp sign-in <server>',
      { retryAfterSecs: 5 },
    );
  }

  /** Best effort, since the tokens are gone here in any case. */
  private async revoke(name: string, tokens: SignInTokens): Promise<void> {
    const server = this.settings.current.mcp.servers[name];
    try {
      const information = (server && configuredClient(server, this.environment)) ?? tokens.information;
      await revokeTokens({ ...tokens, information }, authorizationFetch(this.outbound));
    } catch (error) {
      this.logger.warn('the tokens of a tool server could not be revoked at its authorization server', {
        ...{ server: name, error: this.said(error) },
      });
    }
  }
}
