import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type JWTPayload } from 'jose';

/** What the server found behind a request. */
export interface VouchedCall {
  readonly method: string;
  readonly claims: JWTPayload;
  readonly token: string;
}

/** Throws when a request proves nothing. */
export type VerifyRequest = (request: IncomingMessage) => Promise<{ claims: JWTPayload; token: string }>;

/** A tool server of streamable HTTP that believes nobody: each request is verified, and a call tells for whom it was made. */
export class VouchedServer {
  readonly calls: VouchedCall[] = [];
  readonly refusals: string[] = [];
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param issuer the authorization server that it names to clients without a token */
  static async start(verifierOf: (url: string) => VerifyRequest, issuer?: string): Promise<VouchedServer> {
    const http = createServer();
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    const { port } = http.address() as { port: number };
    const own = new VouchedServer(http, `http://127.0.0.1:${port}/mcp`);
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
        let found: { claims: JWTPayload; token: string };
        try {
          found = await verify(request);
        } catch (error) {
          own.refusals.push(String(error));
          response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
          return;
        }
        own.calls.push({ method: message.method ?? request.method ?? '', ...found });
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
        response.writeHead(200, { 'content-type': 'application/json' });
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
