import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';

export interface SlackEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Envelope {
  readonly envelope_id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly retry_attempt: number;
}

/**
 * Slack's side of socket mode: says hello, sends each event to one connection, and repeats what is not acknowledged.
 */
export class SlackSockets {
  private readonly open = new Set<WebSocket>();
  private readonly unacknowledged = new Map<string, Envelope>();
  private readonly handedOver: Envelope[] = [];
  /** The number of connections so far. */
  connections = 0;
  /** Whether it ignores pings and close frames. */
  isDeaf = false;
  /** Whether it does not say hello. */
  isSilent = false;

  get count(): number {
    return this.open.size;
  }

  /** Whether an event would reach a bot now. */
  get isConnected(): boolean {
    return this.ready !== undefined;
  }

  listenOn(server: Server): void {
    const sockets = new WebSocketServer({ noServer: true, autoPong: false });
    server.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (one) => this.connected(one));
    });
  }

  deliver(payload: unknown, type = 'events_api'): void {
    this.send({ envelope_id: randomUUID(), type, payload, retry_attempt: 0 });
  }

  /** Sends any text unchanged. */
  say(text: string): void {
    for (const one of this.open) one.send(text);
  }

  /** Sends everything once more, as if nothing had been acknowledged. */
  repeatAll(): void {
    for (const envelope of [...this.handedOver]) this.send({ ...envelope, retry_attempt: 1 });
  }

  /** Renews the connections, as Slack does from time to time. */
  renew(): void {
    this.say(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
  }

  cut(): void {
    for (const one of this.open) one.terminate();
  }

  private connected(one: WebSocket): void {
    this.connections += 1;
    this.open.add(one);
    one.on('close', () => {
      this.open.delete(one);
      // What it had not acknowledged goes to another one, which may have been there before.
      for (const envelope of [...this.unacknowledged.values()]) this.send({ ...envelope, retry_attempt: 1 });
    });
    one.on('error', () => one.terminate());
    one.on('ping', (data) => {
      if (!this.isDeaf) one.pong(data);
    });
    one.on('message', (data) =>
      this.acknowledged(JSON.parse((data as Buffer).toString()) as { envelope_id: string }),
    );
    if (this.isSilent) return;
    one.send(JSON.stringify({ type: 'hello', num_connections: this.open.size }));
    for (const envelope of this.unacknowledged.values()) {
      one.send(JSON.stringify({ ...envelope, retry_attempt: 1 }));
    }
  }

  private acknowledged({ envelope_id: id }: { envelope_id: string }): void {
    this.unacknowledged.delete(id);
  }

  /** Without a connection an event that was not sent yet is lost. */
  private send(envelope: Envelope): void {
    const one = this.ready;
    if (one === undefined) return;
    this.unacknowledged.set(envelope.envelope_id, envelope);
    if (envelope.retry_attempt === 0) this.handedOver.push(envelope);
    one.send(JSON.stringify(envelope));
  }

  /** One that is closing takes nothing more. */
  private get ready(): WebSocket | undefined {
    return [...this.open].find(({ readyState }) => readyState === WebSocket.OPEN);
  }
}
