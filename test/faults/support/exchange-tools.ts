import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';

/** Shorter than a run, so that every user's token is exchanged repeatedly. */
const TOKEN_SECS = 5;

interface Call {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly key: string } };
}

/**
 * A tool server and its authorization server, which outlive every gateway. It exchanges the gateway's assertions for
 * tokens of users, and notes each call under the user of its token.
 */
export class ExchangeTools {
  /** The callers with each key, in order. */
  readonly callers = new Map<string, string[]>();
  exchanges = 0;
  private readonly users = new Map<string, string>();
  private readonly server = createServer((request, response) => void this.answer(request, response));

  static async start(): Promise<ExchangeTools> {
    const tools = new ExchangeTools();
    await new Promise<void>((resolve) => tools.server.listen(0, '127.0.0.1', resolve));
    return tools;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Its entry in `[mcp.servers]`. The variable holds the client's secret. */
  get settings(): Readonly<Record<string, unknown>> {
    return {
      ...{ transport: 'http', url: `${this.origin}/mcp`, identity: 'exchange', oauth_issuer: this.origin },
      ...{ oauth_client_id: 'gateway', oauth_client_secret_env: 'TOOLS_SECRET' },
    };
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const json = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'www-authenticate': 'Bearer' });
      response.end(JSON.stringify(value));
    };
    const { url = '' } = request;
    if (url.startsWith('/.well-known/oauth-protected-resource'))
      return json(200, { resource: `${this.origin}/mcp`, authorization_servers: [this.origin] });
    if (url.startsWith('/.well-known/'))
      return json(200, {
        ...{
          issuer: this.origin,
          token_endpoint: `${this.origin}/token`,
          authorization_endpoint: `${this.origin}/no`,
          response_types_supported: ['code'],
        },
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    if (url === '/token') return json(200, this.tokenFor(new URLSearchParams(body)));
    const user = this.users.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    if (user === undefined) return json(401, {});
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const call = JSON.parse(body) as Call;
    if (call.id === undefined) return void response.writeHead(202).end();
    return json(200, { jsonrpc: '2.0', id: call.id, result: this.resultOf(call, user) });
  }

  /** A token for the gateway itself, or for the user that its assertion names. Clients are not checked here. */
  private tokenFor(form: URLSearchParams): object {
    const assertion = form.get('subject_token');
    const user = assertion === null ? 'gateway' : String(decodeJwt(assertion).sub);
    this.exchanges += 1;
    const token = `token-${this.exchanges}-${Math.random().toString(36).slice(2)}`;
    this.users.set(token, user);
    setTimeout(() => this.users.delete(token), TOKEN_SECS * 1000 + 500).unref();
    return {
      ...{ access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECS },
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
  }

  private resultOf({ method, params }: Call, user: string): object {
    if (method === 'initialize') {
      const serverInfo = { name: 'notes', version: '1.0.0' };
      return { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
    }
    const inputSchema = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
    if (method === 'tools/list')
      return { tools: [{ name: 'note', description: 'Writes a key down.', inputSchema }] };
    if (method !== 'tools/call') return {};
    const key = params?.arguments?.key ?? '';
    this.callers.set(key, [...(this.callers.get(key) ?? []), user]);
    return { content: [{ type: 'text', text: `noted for ${user}` }] };
  }
}
