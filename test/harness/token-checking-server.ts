import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { type JWTPayload } from 'jose';

/** A call, and what the server found out about its caller. */
export interface CheckedCall {
  readonly method: string;
  readonly claims: JWTPayload;
  readonly token: string;
  readonly proof?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Refuses the request, and tells the client what to send. */
export class Challenged extends Error {
  constructor(readonly headers: Readonly<Record<string, string>>) {
    super('challenged');
  }
}

/** The token is valid, but lacks a scope. */
export class InsufficientScope extends Error {
  constructor(readonly scope: string) {
    super(`wants ${scope}`);
  }
}

/** Throws when a request proves nothing. May also throw `NotEnough` or `Challenged`. */
export type VerifyRequest = (request: IncomingMessage, method?: string) => Promise<Believed>;

type Believed = Pick<CheckedCall, 'claims' | 'token' | 'proof'>;

/** A tool server (streamable HTTP) that verifies each request. A call returns for whom it was made. */
export class TokenCheckingServer {
  readonly calls: CheckedCall[] = [];
  readonly refusals: string[] = [];
  /** The challenge for a request without a valid token. */
  challenge = 'DPoP algs="ES256", Bearer';
  /** Headers of responses to accepted requests. */
  moreHeaders: Readonly<Record<string, string>> = {};
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param issuer the authorization server that it names to clients without a token */
  static async start(
    verifierOf: (url: string) => VerifyRequest,
    issuer?: string,
  ): Promise<TokenCheckingServer> {
    const http = createServer();
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    const { port } = http.address() as { port: number };
    const own = new TokenCheckingServer(http, `http://127.0.0.1:${port}/mcp`);
    const verify = verifierOf(own.url);
    http.on('request', (request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks).toString();
        const message = (body === '' ? {} : JSON.parse(body)) as {
          id?: number;
          method?: string;
          params?: object;
        };
        if (request.url?.startsWith('/.well-known/') === true) {
          const metadata = { resource: own.url, authorization_servers: [issuer] };
          response.writeHead(issuer === undefined ? 404 : 200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(metadata));
          return;
        }
        let found: Believed;
        try {
          found = await verify(request, message.method);
        } catch (error) {
          own.refusals.push(String(error));
          if (error instanceof Challenged) {
            response.writeHead(401, error.headers).end('x'.repeat(100));
            return;
          }
          const challenge =
            error instanceof InsufficientScope
              ? `Bearer error="insufficient_scope", scope="${error.scope}"`
              : own.challenge;
          response
            .writeHead(error instanceof InsufficientScope ? 403 : 401, { 'www-authenticate': challenge })
            .end();
          return;
        }
        own.calls.push({
          method: message.method ?? request.method ?? '',
          headers: request.headers,
          ...found,
        });
        if (request.method !== 'POST') {
          response.writeHead(405).end();
          return;
        }
        if (message.id === undefined) {
          response.writeHead(202).end();
          return;
        }
        const result = resultOf(message.method, found.claims);
        const answer =
          result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result };
        response.writeHead(200, { 'content-type': 'application/json', ...own.moreHeaders });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
      })();
    });
    return own;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

function resultOf(method: string | undefined, claims: JWTPayload): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'vouched', version: '1' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return {
        tools: [{ name: 'whoami', description: 'Tells for whom it runs.', inputSchema: { type: 'object' } }],
      };
    case 'tools/call':
      return { content: [{ type: 'text', text: JSON.stringify(claims) }] };
    default:
      return undefined;
  }
}
