import type { DpopSession } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/error-text.js';
import { RecentSecrets } from '../../../platform/logging/recent-secrets.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { askedWith } from '../dpop/bound-requests.js';
import { type DpopMode, isBoundAs } from '../dpop/dpop-terms.js';
import { ProofKeys } from '../dpop/proof-keys.js';
import type { GivenToken } from './kept-tokens.js';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
const METADATA_MS = 600_000;
/** The most texts that were sent to get tokens and are hidden. */
const MAX_TOLD = 400;
/** What of a token request nobody else may have (RFC 6749, 7521, 8693). */
const SECRET_FIELDS = ['subject_token', 'actor_token', 'assertion', 'client_assertion'] as const;

interface Metadata {
  readonly endpoint: string;
  readonly usesBody: boolean;
  /** Of keys to which it binds tokens (RFC 9449, 5.1), unchecked. */
  readonly proofAlgorithms: unknown;
  readonly endsAt: number;
}

/** As whom the gateway asks. */
export interface OAuthClient {
  /** Empty for none: what it sends says who it is. */
  readonly id: string;
  /** Absent for a public client. */
  readonly secret?: string;
}

export interface TokenRequest {
  readonly issuer: string;
  readonly client: OAuthClient;
  readonly form: Readonly<Record<string, string>>;
  /** What the issuer did not do when it refuses, such as "did not exchange the token of the user". */
  readonly refusal: string;
}

/** Asks authorization servers for tokens, at the endpoints that their metadata names, with the guarded client. */
@Injectable()
export class AuthorizationServers {
  /** By issuer: as many as servers are configured. */
  private readonly metadata = new Map<string, Metadata>();

  /** What these servers were told and may repeat, now or later. */
  private readonly told: RecentSecrets;

  constructor(
    private readonly outbound: OutboundClient,
    private readonly redactor: Redactor,
    private readonly keys: ProofKeys,
  ) {
    this.told = new RecentSecrets(redactor, 'told to authorization servers', MAX_TOLD);
  }

  /** An access token for this server, bound to a key where `mode` and the issuer say so. Throws like `answerTo`, and `TokenNotBound`. */
  async tokenFor(
    server: McpServerSettings,
    request: TokenRequest,
    mode: DpopMode = server.oauth_dpop,
  ): Promise<GivenToken> {
    const { issuer } = request;
    const { proofAlgorithms } = await this.metadataOf(issuer);
    const key = await this.keys.keyFor(server, mode, issuer, proofAlgorithms);
    const answer = await this.answerTo(request, key);
    const given = tokenIn(answer, issuer);
    const isBound = key !== undefined && isBoundAs(mode, issuer, answer['token_type']);
    return isBound ? { ...given, key } : given;
  }

  /**
   * The answer of the token endpoint, unchecked. Throws with the reason of the issuer, and not with what was sent.
   * @param key to which the token is to be bound
   */
  async answerTo(
    { issuer, client, form, refusal }: TokenRequest,
    key?: DpopSession,
  ): Promise<Record<string, unknown>> {
    const { endpoint, usesBody } = await this.metadataOf(issuer);
    for (const field of SECRET_FIELDS) if (form[field] !== undefined) this.told.add(form[field]);
    const { id, secret } = client;
    const inBody = usesBody || secret === undefined;
    const own = {
      ...(id === '' ? {} : { client_id: id }),
      ...(secret === undefined ? {} : { client_secret: secret }),
    };
    const basic = Buffer.from(`${formEncoded(id)}:${formEncoded(secret ?? '')}`).toString('base64');
    const body = new URLSearchParams({ ...form, ...(inBody ? own : {}) }).toString();
    const headers = inBody ? {} : { authorization: `Basic ${basic}` };
    const { status, answer, error } = await askedWith(key, endpoint, (proof) =>
      this.post(endpoint, body, { ...headers, ...proof }),
    );
    if (status === 200 && answer !== undefined) return answer;
    const said = [error, answer?.['error_description']].filter((part) => typeof part === 'string');
    const reason = said.length === 0 ? '' : `: ${this.redactor.redact(said.join(': ')).slice(0, 200)}`;
    throw new Error(`${issuer} ${refusal} (${status})${reason}`);
  }

  private async post(url: string, body: string, more: Readonly<Record<string, string>>) {
    const { status, headers, ...answered } = await this.outbound.read({
      ...{ method: 'POST', url, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...more,
      },
    });
    const answer = objectIn(answered.body);
    return { status, headers, answer, error: answer?.['error'] };
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
    const { dpop_signing_alg_values_supported: proofAlgorithms } = found;
    return { endpoint, usesBody, proofAlgorithms, endsAt: performance.now() + METADATA_MS };
  }
}

/** The token of an answer. Throws when there is none that can stand in a header. */
export function tokenIn(answer: Record<string, unknown>, issuer: string): GivenToken {
  const { access_token: token, expires_in: seconds } = answer;
  if (typeof token !== 'string' || token === '' || /[^\x21-\x7e]/.test(token))
    throw new Error(`${issuer} answered without a usable access_token`);
  return { token, livesSecs: typeof seconds === 'number' && seconds > 0 ? seconds : undefined };
}

/** RFC 8414 puts the issuer's path after the well-known part, OpenID Connect puts it before. */
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
