import { type ClientOptions, WebSocket } from 'ws';
import { eventually } from './eventually.js';

export type SocketFrame = Record<string, unknown> & { readonly type: string };

/** A client of a session's WebSocket that keeps every frame it received. */
export class SocketClient {
  readonly frames: SocketFrame[] = [];
  closed: { code: number; reason: string } | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) =>
      this.frames.push(JSON.parse(data.toString('utf8')) as SocketFrame),
    );
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString('utf8') };
    });
    socket.on('error', () => undefined);
  }

  static async open(url: string, options: ClientOptions, protocols: string[] = []): Promise<SocketClient> {
    const socket = new WebSocket(url, protocols, options);
    const client = new SocketClient(socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return client;
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  of(type: string): SocketFrame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  /** The text of all tokens so far. */
  said(): string {
    return this.of('token')
      .map(({ content }) => String(content))
      .join('');
  }

  async until(type: string, count = 1, timeoutMs?: number): Promise<SocketFrame> {
    await eventually(() => expect(this.of(type).length).toBeGreaterThanOrEqual(count), timeoutMs);
    return this.of(type)[count - 1] as SocketFrame;
  }

  /** Waits for the first frame of any of these types. */
  async untilAny(...types: readonly string[]): Promise<void> {
    await eventually(() => expect(types.some((type) => this.of(type).length > 0)).toBe(true));
  }

  async untilSaid(text: string): Promise<void> {
    await eventually(() => expect(this.said()).toBe(text));
  }
}
