import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How slow a connection is: each chunk waits `latencyMs`, and then as long as its bytes take. */
export interface Slowness {
  readonly latencyMs?: number;
  readonly bytesPerSecond?: number;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'postgres:': 5432, 'postgresql:': 5432 };

/** A TCP proxy for a URL (a database, also on a unix socket; a provider; a receiver) that a test can disturb. */
export class FaultProxy {
  /** The number of connections accepted so far. */
  connections = 0;
  private readonly clients = new Set<Socket>();
  private server: Server | undefined;
  private port = 0;
  private slowness: Slowness = {};
  private losesAnswers = false;
  private frozen: Promise<void> | undefined;
  private release: () => void = () => undefined;

  private constructor(private readonly target: URL) {}

  static async to(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(url));
    await proxy.listen();
    return proxy;
  }

  /** The same URL through the proxy. */
  get url(): string {
    const url = new URL(this.target.href);
    url.searchParams.delete('host');
    url.searchParams.delete('port');
    url.host = `127.0.0.1:${this.port}`;
    return url.href.replace(/\/$/, '');
  }

  /** Closes every connection and accepts no new one. */
  async cut(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    const closed = new Promise<void>((resolve) =>
      server === undefined ? resolve() : server.close(() => resolve()),
    );
    this.end();
    await closed;
  }

  /** Resets every connection, and accepts new ones. */
  reset(): void {
    // Each server side is closed with its client. Resetting both would let one disturb the other.
    for (const client of this.clients) client.resetAndDestroy();
  }

  /** Accepts everything and forwards nothing, like a network that drops packets. */
  freeze(): void {
    this.frozen ??= new Promise((resolve) => {
      this.release = resolve;
    });
  }

  /** Forwards what arrived while frozen. */
  thaw(): void {
    this.frozen = undefined;
    this.release();
  }

  slow(slowness: Slowness): void {
    this.slowness = slowness;
  }

  /** Requests arrive and responses are lost, so the caller cannot know the outcome. */
  halfCut(): void {
    this.losesAnswers = true;
  }

  /** Works normally again. Closes connections that have lost something, since the rest would make no sense. */
  async mend(): Promise<void> {
    this.slowness = {};
    this.thaw();
    if (this.losesAnswers) this.end();
    this.losesAnswers = false;
    await this.listen();
  }

  private async listen(): Promise<void> {
    if (this.server !== undefined) return;
    const server = createServer({ allowHalfOpen: true }, (client) => this.join(client));
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address !== null && typeof address === 'object') this.port = address.port;
  }

  private end(): void {
    for (const client of this.clients) client.destroy();
  }

  private join(client: Socket): void {
    this.connections += 1;
    this.clients.add(client);
    const upstream = connect({ ...this.upstreamAddress(), allowHalfOpen: true });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      this.pass(socket, other, socket === upstream);
    }
  }

  /** Forwards one direction of one connection until its end. The other direction may continue. */
  private pass(from: Socket, to: Socket, isAnswer: boolean): void {
    let underWay = Promise.resolve();
    from.on('data', (bytes: Buffer) => {
      from.pause();
      underWay = this.forward(bytes, to, isAnswer).then(() => void from.resume());
    });
    // `end` also arrives while the source is paused.
    from.on('end', () => {
      void underWay.then(() => (isAnswer && this.losesAnswers ? undefined : to.end()));
    });
    from.on('close', () => {
      this.clients.delete(from);
      if (!from.readableEnded) to.destroy();
    });
  }

  private async forward(bytes: Buffer, to: Socket, isAnswer: boolean): Promise<void> {
    await this.frozen;
    await this.beSlow(bytes.length);
    if (isAnswer && this.losesAnswers) return;
    if (to.writable && !to.write(bytes)) await drained(to);
  }

  private async beSlow(bytes: number): Promise<void> {
    const { latencyMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY } = this.slowness;
    const pauseMs = latencyMs + (bytes * 1000) / bytesPerSecond;
    if (pauseMs > 0) await sleep(pauseMs);
  }

  private upstreamAddress(): { path: string } | { host: string; port: number } {
    const { searchParams, hostname, port, protocol } = this.target;
    const directory = searchParams.get('host');
    if (directory !== null) return { path: `${directory}/.s.PGSQL.${searchParams.get('port') ?? 5432}` };
    return { host: hostname, port: Number(port || (DEFAULT_PORTS[protocol] ?? 80)) };
  }
}

/** Resolves when more can be written, or nothing any more. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    if (socket.destroyed) resolve();
    else socket.on('drain', done).on('close', done);
  });
}
