import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';

const TLS = join(__dirname, 'tls');
export const AUTHORITY_FILE = join(TLS, 'authority.pem');
export const SERVER_CERTIFICATE = {
  key: readFileSync(join(TLS, 'server.key')),
  cert: readFileSync(join(TLS, 'server.pem')),
};

export const PROXY_PASSWORD = 'canary-password-of-the-proxy';

interface AskedTunnel {
  /** The target of the CONNECT request, as `host:port`. */
  readonly authority: string;
  readonly authorization: string | undefined;
}

/**
 * A company's proxy on loopback. It opens tunnels for callers with the password, and records their requests. Every
 * tunnel ends at a TLS server with the requested name, which forwards to the port configured for that name.
 */
export class CompanyProxy {
  readonly asked: AskedTunnel[] = [];
  /** Ports behind the TLS server, by server name. */
  readonly backends = new Map<string, number>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly proxy: Server,
    private readonly front: TlsServer,
  ) {}

  static async start(): Promise<CompanyProxy> {
    const front = createTlsServer(SERVER_CERTIFICATE);
    const proxy = createServer((_request, response) => response.writeHead(405).end());
    const made = new CompanyProxy(proxy, front);
    front.on('secureConnection', (socket) => {
      const port = made.backends.get(socket.servername || '');
      if (port === undefined) socket.destroy();
      else made.join(socket, connect(port, '127.0.0.1'));
    });
    proxy.on('connect', (request, socket: Socket) =>
      made.tunnel(request.url ?? '', request.headers['proxy-authorization'], socket),
    );
    for (const server of [proxy, front])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  /** The URL with the password, as in `HTTPS_PROXY`. */
  get url(): string {
    return `http://gateway:${PROXY_PASSWORD}@127.0.0.1:${(this.proxy.address() as AddressInfo).port}`;
  }

  get frontPort(): number {
    return (this.front.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    for (const server of [this.proxy, this.front]) await new Promise((resolve) => server.close(resolve));
  }

  private tunnel(authority: string, authorization: string | undefined, socket: Socket): void {
    this.asked.push({ authority, authorization });
    const expected = `Basic ${Buffer.from(`gateway:${PROXY_PASSWORD}`).toString('base64')}`;
    if (authorization !== expected) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const port = authority.endsWith(':443') ? this.frontPort : Number(authority.split(':').at(-1));
    const target = connect(port, '127.0.0.1', () =>
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
    this.join(socket, target);
  }

  private join(one: Socket, other: Socket): void {
    for (const [socket, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => peer.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        peer.destroy();
      });
      socket.pipe(peer);
    }
  }
}
