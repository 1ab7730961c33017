import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** Opcodes of RFC 6455, 5.2. */
const TEXT = 0x1;
export const PING = 0x9;
export const PONG = 0xa;

/** A masked client frame. The mask is zero, so that the payload stays readable. */
export function frame(payload: string, opcode = TEXT, isFinal = true): Buffer {
  const body = Buffer.from(payload);
  const [first, length] = [(isFinal ? 0x80 : 0) | opcode, body.length];
  const head = length < 126 ? [first, 0x80 | length] : [first, 0x80 | 126, length >> 8, length & 0xff];
  if (length > 0xffff) throw new Error('Frames of more than 64 KiB are not made here.');
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), body]);
}

/** A WebSocket on a raw connection. It sends what no client would, and reads only when told to. */
export class RawSocket {
  private received = Buffer.alloc(0);
  isClosed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      // Keeps only the end, which contains the close frame.
      this.received = Buffer.concat([this.received, chunk]).subarray(-65_536);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  static async open(url: string, token: string): Promise<RawSocket> {
    const { hostname, port, pathname } = new URL(url);
    const socket = connect(Number(port), hostname);
    const raw = new RawSocket(socket);
    const lines = [
      `GET ${pathname} HTTP/1.1`,
      `Host: ${hostname}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      `Authorization: Bearer ${token}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    await new Promise<void>((resolve, reject) => {
      socket.once('data', (chunk: Buffer) => {
        if (chunk.toString('latin1').startsWith('HTTP/1.1 101 ')) resolve();
        else reject(new Error(`No WebSocket: ${chunk.toString('latin1').slice(0, 300)}`));
      });
      socket.once('error', reject);
    });
    raw.received = Buffer.alloc(0);
    return raw;
  }

  /**
   * Sends `count` frames as fast as they are accepted, for at most `withinMs`.
   * @returns how many bytes were accepted
   */
  async flood(one: Buffer, count: number, withinMs: number): Promise<number> {
    const many = Buffer.concat(Array<Buffer>(2000).fill(one));
    const deadline = performance.now() + withinMs;
    for (let sent = 0; sent < count && !this.isClosed && performance.now() < deadline; sent += 2000) {
      if (!this.socket.write(many)) await this.drained(deadline);
    }
    return this.socket.bytesWritten - this.socket.writableLength;
  }

  /** The code of the last close frame, if one has arrived. */
  closeCode(): number | undefined {
    // A server's close frame is short and unmasked: 0x88, its length, the code, the reason.
    for (let at = this.received.length - 4; at >= 0; at -= 1) {
      const length = this.received[at + 1] ?? 0;
      if (this.received[at] === 0x88 && at + 2 + length === this.received.length)
        return this.received.readUInt16BE(at + 2);
    }
    return undefined;
  }

  close(): void {
    this.socket.destroy();
  }

  private drained(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const events = ['drain', 'close'] as const;
      const done = (): void => {
        clearTimeout(timer);
        for (const event of events) this.socket.off(event, done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, deadline - performance.now()));
      for (const event of events) this.socket.once(event, done);
    });
  }
}
