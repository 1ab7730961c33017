import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Documents = Readonly<Record<string, object | string>>;

/**
 * A tool server, its authorization server and an issuer of tokens in one. Each of its documents can mislead: an
 * object is merged into the right document, a text is the target of a redirect.
 */
export class MisleadingServer {
  says: Documents = {};
  readonly asked: string[] = [];
  private readonly server = createServer((request, response) => void this.answer(request, response));

  static async open(): Promise<MisleadingServer> {
    const own = new MisleadingServer();
    await new Promise<void>((listening) => own.server.listen(0, '127.0.0.1', listening));
    return own;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((closed) => this.server.close(() => closed()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for await (const _chunk of request);
    const path = request.url?.split('?')[0] ?? '';
    this.asked.push(path);
    const name = path.split('/').at(-1) ?? '';
    const said = this.says[name];
    if (typeof said === 'string') {
      response.writeHead(307, { location: said }).end();
      return;
    }
    const document = this.documents()[name];
    const challenge = (this.says['challenge'] as { url: string } | undefined)?.url ?? `${this.url}/resource`;
    const status = name === 'mcp' ? 401 : document === undefined ? 404 : 200;
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(name === 'mcp' && { 'www-authenticate': `Bearer resource_metadata="${challenge}"` }),
    });
    response.end(JSON.stringify({ ...document, ...said }));
  }

  private documents(): Readonly<Record<string, object>> {
    const { url } = this;
    const metadata = {
      ...{ issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
      ...{ registration_endpoint: `${url}/register`, revocation_endpoint: `${url}/revoke` },
      ...{ response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] },
      ...{ jwks_uri: `${url}/keys`, subject_types_supported: ['public'] },
      id_token_signing_alg_values_supported: ['RS256'],
    };
    return {
      resource: { resource: `${url}/mcp`, authorization_servers: [url] },
      'oauth-authorization-server': metadata,
      'openid-configuration': metadata,
      openid: metadata,
      register: { client_id: 'gateway', redirect_uris: ['https://agents.example.com/'] },
      token: { access_token: 'given', token_type: 'Bearer', expires_in: 300 },
    };
  }
}
