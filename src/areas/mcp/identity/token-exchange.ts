import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallOrigin } from '../connection/call-origin.js';
import { variable } from '../transport/credentials.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
/** The most tokens of users that are kept. */
const MAX_TOKENS = 1000;
/** Of a token that does not say how long it lives. */
const DEFAULT_LIFETIME_SECS = 60;
/** A token is not used in the last part of its life, at most this long. */
const MARGIN_MS = 30_000;
const METADATA_MS = 600_000;

interface Kept {
  readonly token: Promise<string>;
  /** By `performance.now()`; unknown while it is being asked for. */
  endsAt: number;
  value?: string;
}

interface Metadata {
  readonly endpoint: string;
  readonly usesBody: boolean;
  readonly endsAt: number;
}

/** Trades assertions for tokens of users at a server's authorization server (RFC 8693), and keeps them until they expire. */
@Injectable()
export class TokenExchange {
  private readonly kept = new Map<string, Kept>();
  /** By issuer: as many as servers are configured. */
  private readonly metadata = new Map<string, Metadata>();

  constructor(
    private readonly outbound: OutboundClient,
    private readonly environment: Environment,
    private readonly redactor: Redactor,
  ) {}

  /** One exchange for all who ask at once. Throws with the reason when the issuer gives no token. */
  async tokenOf(
    server: McpServerSettings,
    origin: CallOrigin,
    assertion: () => Promise<string>,
  ): Promise<{ token: string; isKept: boolean }> {
    const key = keyOf(server, origin);
    const known = this.kept.get(key);
    if (known !== undefined && known.endsAt > performance.now())
      return { token: await known.token, isKept: true };
    const asked: Kept = { token: this.ask(server, assertion, () => asked), endsAt: Number.POSITIVE_INFINITY };
    this.keep(key, asked);
    try {
      return { token: await asked.token, isKept: false };
    } catch (error) {
      if (this.kept.get(key) === asked) this.kept.delete(key);
      throw error;
    }
  }

  /** The next request asks anew. */
  forget(server: McpServerSettings, origin: CallOrigin): void {
    this.kept.delete(keyOf(server, origin));
  }

  private keep(key: string, token: Kept): void {
    this.kept.delete(key);
    const [oldest] = this.kept.keys();
    if (oldest !== undefined && this.kept.size >= MAX_TOKENS) this.kept.delete(oldest);
    this.kept.set(key, token);
  }

  private async ask(
    server: McpServerSettings,
    assertion: () => Promise<string>,
    kept: () => Kept,
  ): Promise<string> {
    const metadata = await this.metadataOf(server.oauth_issuer);
    const askedAt = performance.now();
    const answer = await this.request(server, metadata, await assertion());
    const { access_token: token, expires_in: seconds } = answer;
    if (typeof token !== 'string' || token === '' || /[^\x21-\x7e]/.test(token))
      throw new Error(`${server.oauth_issuer} answered the exchange without a usable access_token`);
    const livesMs = 1000 * (typeof seconds === 'number' && seconds > 0 ? seconds : DEFAULT_LIFETIME_SECS);
    kept().endsAt = askedAt + livesMs - Math.min(MARGIN_MS, livesMs / 10);
    kept().value = token;
    const values = [...this.kept.values()].flatMap(({ value }) => value ?? []);
    this.redactor.setFor('exchanged tokens', [...values, token]);
    return token;
  }

  private async request(
    server: McpServerSettings,
    { endpoint, usesBody }: Metadata,
    assertion: string,
  ): Promise<Record<string, unknown>> {
    const { oauth_client_id: id, oauth_client_secret_env: name, oauth_scope: scope, url } = server;
    const secret = variable(name, this.environment);
    const form = new URLSearchParams({
      grant_type: GRANT,
      subject_token: assertion,
      subject_token_type: JWT_TYPE,
      requested_token_type: ACCESS_TOKEN_TYPE,
      resource: url,
      ...(scope === '' ? {} : { scope }),
      ...(usesBody ? { client_id: id, client_secret: secret } : {}),
    });
    const basic = Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64');
    const { status, body } = await this.outbound.read({
      method: 'POST',
      url: endpoint,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...(usesBody ? {} : { authorization: `Basic ${basic}` }),
      },
      body: form.toString(),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    const answer = objectIn(body);
    if (status === 200 && answer !== undefined) return answer;
    const said = [answer?.['error'], answer?.['error_description']].filter(
      (part) => typeof part === 'string',
    );
    const reason = said.length === 0 ? '' : `: ${said.join(': ').slice(0, 200)}`;
    throw new Error(`${server.oauth_issuer} did not exchange the token of the user (${status})${reason}`);
  }

  private async metadataOf(issuer: string): Promise<Metadata> {
    const known = this.metadata.get(issuer);
    if (known !== undefined && known.endsAt > performance.now()) return known;
    const problems: string[] = [];
    for (const url of metadataUrls(issuer)) {
      try {
        const found = await this.read(url, issuer);
        this.metadata.set(issuer, found);
        return found;
      } catch (error) {
        problems.push(sentenceOf(error));
      }
    }
    throw new Error(`the metadata of ${issuer} cannot be read (${problems.join('; ')})`);
  }

  private async read(url: string, issuer: string): Promise<Metadata> {
    const { status, body } = await this.outbound.read({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    const found = objectIn(body);
    if (status !== 200 || found === undefined) throw new Error(`${url} answered ${status}`);
    if (found['issuer'] !== issuer) throw new Error(`${url} names another issuer`);
    const { token_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = found;
    if (typeof endpoint !== 'string') throw new Error(`${url} names no token_endpoint`);
    if (issuer.startsWith('https:') && !endpoint.startsWith('https:'))
      throw new Error(`${url} names a token_endpoint that is not https`);
    // By RFC 8414 a server that names no methods takes client_secret_basic.
    const usesBody =
      Array.isArray(methods) &&
      !methods.includes('client_secret_basic') &&
      methods.includes('client_secret_post');
    return { endpoint, usesBody, endsAt: performance.now() + METADATA_MS };
  }
}

/** Tokens are of a user at a server; the gateway's own assertion has no user. */
function keyOf(server: McpServerSettings, { user = '|' }: CallOrigin): string {
  const { url, oauth_client_id: client, oauth_issuer: issuer, oauth_scope: scope } = server;
  return JSON.stringify([url, client, issuer, scope, user]);
}

/** By RFC 8414 the path of the issuer follows the well-known part, by OpenID Connect it stands before it. */
function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

function objectIn(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 6749, 2.3.1: names and secrets are form-encoded before they are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
