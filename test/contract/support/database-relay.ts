import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestDatabase } from '../../harness/database.js';

/** The way to a database, which a test can cut and mend. */
export class DatabaseRelay {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private port = 0;
  private frozen = false;

  private constructor(private readonly target: URL) {}

  static async to(database: TestDatabase): Promise<DatabaseRelay> {
    const relay = new DatabaseRelay(new URL(database.url));
    await relay.mend();
    return relay;
  }

  /** The database's URL by this way. */
  get url(): string {
    const url = new URL(this.target.href);
    url.search = '';
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /** Ends every connection and takes no new one. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** Takes everything and passes nothing on, as a network that drops what it is given. */
  freeze(): void {
    this.frozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  thaw(): void {
    this.frozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  async mend(): Promise<void> {
    const server = createServer((client) => this.relay(client));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    const address = server.address();
    if (address !== null && typeof address === 'object') this.port = address.port;
  }

  private relay(client: Socket): void {
    const upstream = connect(this.upstreamAddress());
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
      if (this.frozen) socket.pause();
    }
  }

  private upstreamAddress(): { path: string } | { host: string; port: number } {
    const { searchParams, hostname, port } = this.target;
    const directory = searchParams.get('host');
    if (directory !== null) return { path: `${directory}/.s.PGSQL.${searchParams.get('port') ?? 5432}` };
    return { host: hostname, port: Number(port || 5432) };
  }
}
