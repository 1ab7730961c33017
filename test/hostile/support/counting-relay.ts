import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/** Forwards all bytes to a port of loopback, and counts the incoming connections. */
export class CountingRelay {
  connections = 0;
  private readonly server: Server;

  private constructor(target: number) {
    this.server = createServer((client) => {
      this.connections += 1;
      const upstream = connect(target, '127.0.0.1');
      client.pipe(upstream).pipe(client);
      client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
      upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    });
  }

  static async to(target: number | undefined): Promise<CountingRelay> {
    const relay = new CountingRelay(target ?? 0);
    await new Promise<void>((resolve) => relay.server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
  }
}
