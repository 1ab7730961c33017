import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { canary } from './canary.js';
import { AUDIENCE, type SigningKey, signingKey } from './identity.js';

const URN = 'urn:ietf:params:oauth:';
/** Secret fields of a token request. */
const SECRET_FIELDS = [
  ...['client_assertion', 'assertion', 'subject_token', 'actor_token', 'client_secret'],
  ...['code', 'code_verifier', 'refresh_token'],
];

/**
 * Repeats secrets in its responses. As an authorization server it repeats in each refusal everything it was sent; as
 * a tool server it repeats the caller's token. Requests to it as a model or as a channel's platform are refused, with
 * everything they contained.
 */
export class Repeater {
  /** Every secret that it was sent or that it issued, by a name. */
  readonly secrets: Record<string, string> = {};
  /** The field names of each refused token request. */
  readonly refused: string[] = [];
  /** What it was sent as a model or as a platform. */
  readonly heard: string[] = [];
  private readonly exchanged = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly key: SigningKey,
  ) {
    server.on('request', (request, response) => void this.answer(request, response));
  }

  static async start(): Promise<Repeater> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return new Repeater(server, await signingKey('repeater'));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A token for a person or an account. */
  async sign(sub: string): Promise<string> {
    const claims = { iss: this.url, aud: AUDIENCE, groups: ['staff'] };
    const token = await new SignJWT({ ...claims, sub })
      .setProtectedHeader({ alg: this.key.alg, kid: this.key.kid })
      .setIssuedAt()
      .setExpirationTime('5 minutes')
      .sign(this.key.privateKey);
    this.keep(`the token of ${sub}`, token);
    return token;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((closed) => this.server.close(() => closed()));
  }

  /** The payload alone is a secret too, because texts may be truncated. */
  private keep(what: string, secret: string): void {
    const [, payload] = secret.startsWith('ey') ? secret.split('.') : [];
    this.secrets[`${what} ${secret.slice(-12)}`] = secret;
    if (payload !== undefined) this.secrets[`part of ${what} ${secret.slice(-12)}`] = payload.slice(0, 80);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? '';
    const [status, value] = this.answerTo(path, request, body);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  }

  private answerTo(path: string, request: IncomingMessage, body: string): [number, object] {
    if (path.startsWith('/.well-known/')) return [200, this.document(path)];
    if (path === '/keys') return [200, { keys: [this.key.jwk] }];
    if (path === '/register') return this.register(JSON.parse(body) as object);
    if (path === '/token') return this.token(new URLSearchParams(body));
    if (path.startsWith('/tools/')) return this.tool(request, body);
    const told = `${request.headers.authorization ?? ''} ${path} ${body}`;
    this.heard.push(told);
    // Slack accepts the bot's token, and refuses the app's.
    if (path === '/slack/auth.test')
      return [200, { ok: true, user_id: 'U1', team_id: 'T1', url: this.url, bot_id: 'B1' }];
    return [401, { ok: false, error: { message: told }, error_description: told, description: told }];
  }

  private register(client: object): [number, object] {
    const secret = canary('registered');
    this.keep('the secret of a client', secret);
    const more = { client_secret: secret, client_secret_expires_at: 0 };
    return [
      201,
      { ...client, ...more, client_id: 'registered', token_endpoint_auth_method: 'client_secret_post' },
    ];
  }

  private document(path: string): object {
    const of = '/.well-known/oauth-protected-resource';
    if (path.startsWith(of))
      return { resource: this.url + path.slice(of.length), authorization_servers: [this.url] };
    return {
      issuer: this.url,
      ...{ token_endpoint: `${this.url}/token`, authorization_endpoint: `${this.url}/page` },
      ...{ registration_endpoint: `${this.url}/register`, code_challenge_methods_supported: ['S256'] },
      ...{ jwks_uri: `${this.url}/keys`, response_types_supported: ['code'] },
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
    };
  }

  private token(form: URLSearchParams): [number, object] {
    for (const field of SECRET_FIELDS) if (form.has(field)) this.keep(field, form.get(field) as string);
    const given = this.given(form);
    if (given === undefined) {
      this.refused.push(`${form.get('resource') ?? ''} ${[...form.keys()].join(' ')}`);
      const told = SECRET_FIELDS.flatMap((field) => form.get(field) ?? []).join(' ');
      return [400, { error: 'invalid_grant', error_description: `${told} is not good: ${form.toString()}` }];
    }
    this.keep('what it gave', given);
    const type = form.get('requested_token_type') ?? `${URN}token-type:access_token`;
    const answer = { access_token: given, token_type: 'Bearer', issued_token_type: type, scope: 'x' };
    if (form.get('grant_type') !== 'authorization_code') return [200, { ...answer, expires_in: 300 }];
    const refresh = canary('refresh');
    this.keep('what refreshes', refresh);
    return [200, { ...answer, expires_in: 1, refresh_token: refresh }];
  }

  /**
   * Accounts get the token they ask for. For a person, the first exchange and the token from the second one are
   * refused; refreshing always fails.
   */
  private given(form: URLSearchParams): string | undefined {
    const grant = form.get('grant_type');
    if (grant === 'client_credentials') return form.has('client_assertion') ? undefined : canary('client');
    if (grant === 'authorization_code')
      return form.get('code')?.startsWith('good') === true ? canary('signed-in') : undefined;
    if (grant === `${URN}grant-type:jwt-bearer`)
      return form.get('assertion')?.startsWith('canary-account') === true ? canary('access') : undefined;
    if (form.get('requested_token_type') !== `${URN}token-type:id-jag`) return undefined;
    const subject = form.get('subject_token') ?? '';
    if (subject === this.secrets[`the token of account ${subject.slice(-12)}`]) return canary('account');
    if (!this.exchanged.has(subject)) {
      this.exchanged.add(subject);
      return undefined;
    }
    return canary('person');
  }

  private tool({ headers, method, url }: IncomingMessage, body: string): [number, object] {
    const shown =
      headers['x-on-behalf-of'] ?? headers.authorization?.replace('Bearer ', '') ?? headers['x-key'];
    if (method !== 'POST') return [405, {}];
    if (shown === undefined) return [401, {}];
    this.keep('what a tool was shown', String(shown));
    const { id, method: called } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return [202, {}];
    const results: Record<string, object> = {
      initialize: {
        ...{ protocolVersion: '2025-06-18', capabilities: { tools: {} } },
        serverInfo: { name: 'repeater', version: '1' },
      },
      ping: {},
      'tools/list': { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] },
    };
    const error = { code: -32_000, message: `${String(shown)} may not ${url}` };
    return [200, { jsonrpc: '2.0', id, ...(called in results ? { result: results[called] } : { error }) }];
  }
}
