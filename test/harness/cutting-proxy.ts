import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Where to cut a response: in the middle of this text, at its n-th occurrence. */
export interface Cut {
  readonly text: string;
  readonly n: number;
}

/** A TCP proxy that cuts the responses on its first connections, one after the other, at given places. */
export class CuttingProxy {
  /** The number of cuts so far. */
  cuts = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private connections = 0;

  /** @param ports the targets of the connections, in turn */
  constructor(
    private ports: readonly number[],
    private readonly plan: readonly Cut[],
  ) {
    this.server = createServer((client) => this.take(client));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  /** Cuts every open connection. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Sends further connections there. */
  goTo(ports: readonly number[]): void {
    this.ports = ports;
  }

  private take(client: Socket): void {
    const number = this.connections++;
    const target = connect(this.ports[number % this.ports.length] ?? 0, '127.0.0.1');
    for (const socket of [client, target]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    client.pipe(target);
    const cut = this.plan[number];
    let passed = '';
    target.on('data', (data: Buffer) => {
      const before = passed.length;
      passed += data.toString('latin1');
      const end = cut === undefined ? -1 : endOf(passed, cut);
      if (end === -1) {
        client.write(data);
        return;
      }
      this.cuts += 1;
      target.removeAllListeners('data');
      client.write(data.subarray(0, Math.max(0, end - before)), () => client.resetAndDestroy());
    });
  }
}

/** Half of the matching text still passes. */
function endOf(passed: string, { text, n }: Cut): number {
  let at = -1;
  for (let found = 0; found < n; found += 1) {
    at = passed.indexOf(text, at + 1);
    if (at === -1) return -1;
  }
  return at + Math.ceil(text.length / 2);
}
