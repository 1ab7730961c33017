import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One attempt as it arrived. */
export interface ReceivedAttempt {
  readonly at: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as text. */
  readonly body: string;
  readonly json: WebhookBody;
}

export interface WebhookBody {
  readonly id: string;
  readonly event: string;
  readonly timestamp: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** How a receiver answers an attempt: with a status, or by using the response itself. */
export type Behaviour = (attempt: ReceivedAttempt, response: ServerResponse) => number | 'handled';

/** A webhook receiver on loopback that keeps what arrives and answers as a test says. */
export class HookReceiver {
  readonly attempts: ReceivedAttempt[] = [];
  behaviour: Behaviour = () => 200;
  connections = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((request, response) => void this.take(request, response));

  private constructor() {
    this.server.on('connection', (socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  /** Listens on this port; 0 for a free one. */
  static async open(port = 0, host = '127.0.0.1'): Promise<HookReceiver> {
    const receiver = new HookReceiver();
    await receiver.listen(port, host);
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** The bodies that arrived on a path, in order of arrival. */
  bodies(path = '/hook'): WebhookBody[] {
    return this.attempts.filter((attempt) => attempt.path === path).map(({ json }) => json);
  }

  listen(port: number, host = '127.0.0.1'): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /** Disappears and drops its connections. `listen` brings it back. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString('utf8');
    const attempt: ReceivedAttempt = {
      at: performance.now(),
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body,
      json: JSON.parse(body) as WebhookBody,
    };
    this.attempts.push(attempt);
    const answer = this.behaviour(attempt, response);
    if (answer !== 'handled') response.writeHead(answer).end();
  }
}
