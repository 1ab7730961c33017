import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The parsed body if its content type is JSON. */
  readonly body: unknown;
}

/** How many requests may wait for an earlier response of their connection. */
export const AHEAD = 100;

/** Nothing arrived in time, though the connection is still open. */
export class ReadTimeout extends Error {}

/** A raw TCP connection, for requests that no HTTP client would send. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private closed = false;
  private wake: () => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.end());
    socket.on('end', () => this.end());
  }

  /** The client's half stays open when the server ends its own half, as with a careless client. */
  static async open(port: number | undefined): Promise<RawConnection> {
    const socket = connect({ port: port ?? 0, host: '127.0.0.1', allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawConnection(socket);
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** The next response; throws when none arrives in time. `bodiless` is for responses to HEAD. */
  async answer({ withinMs = 1000, bodiless = false } = {}): Promise<RawAnswer> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const parsed = this.take(bodiless);
      if (parsed !== undefined) return parsed;
      if (this.closed || !(await this.more(deadline))) {
        const got = JSON.stringify(this.received.toString('latin1').slice(0, 200));
        if (this.closed) throw new Error(`No answer before the connection ended: ${got}`);
        throw new ReadTimeout(`No answer within ${withinMs} ms: ${got}`);
      }
    }
  }

  /** Sends these requests, as many ahead as a connection may, and returns their responses in order. */
  async pipelined(requests: readonly Buffer[], { withinMs = 10_000 } = {}): Promise<RawAnswer[]> {
    this.send(Buffer.concat(requests.slice(0, AHEAD)));
    const answers: RawAnswer[] = [];
    while (answers.length < requests.length) {
      answers.push(await this.answer({ withinMs }));
      const next = requests[answers.length + AHEAD - 1];
      if (next !== undefined) this.send(next);
    }
    return answers;
  }

  /** Whether the server ends the connection in time. */
  async ends(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (!this.closed) if (!(await this.more(deadline))) return false;
    return true;
  }

  /** Whether the server drops the connection in time, though the client keeps it open and goes on sending. */
  async isDropped(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      if (this.socket.destroyed) return true;
      this.socket.write('x');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return false;
  }

  /** Stops reading, whatever arrives. */
  stopReading(): this {
    this.socket.pause();
    return this;
  }

  readOn(): this {
    this.socket.resume();
    return this;
  }

  /** Ends the client's half, and keeps reading. */
  endHalf(): this {
    this.socket.end();
    return this;
  }

  /** Resets the connection. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Also ends the client's half. */
  close(): void {
    this.socket.destroy();
  }

  private end(): void {
    this.closed = true;
    this.wake();
  }

  private more(deadline: number): Promise<boolean> {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), leftMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  private take(bodiless: boolean): RawAnswer | undefined {
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...lines] = this.received.toString('latin1', 0, headEnd).split('\r\n');
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = bodiless ? 0 : Number(headers.get('content-length') ?? 0);
    const end = headEnd + 4 + length;
    if (this.received.length < end) return undefined;
    const text = this.received.toString('utf8', headEnd + 4, end);
    this.received = this.received.subarray(end);
    const json = headers.get('content-type')?.includes('json') === true && text !== '';
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    return { status, headers, text, body: json ? (JSON.parse(text) as unknown) : undefined };
  }
}

/** The bytes of a request. `Host` is added; the test chooses everything else. */
export function request(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): Buffer {
  const lines = Object.entries({ Host: 'gateway.test', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), typeof body === 'string' ? Buffer.from(body) : body]);
}

/** The same with a JSON body (or what a test calls so) and its length. */
export function jsonRequest(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): Buffer {
  const length = String(Buffer.byteLength(body));
  return request(
    method,
    target,
    { 'Content-Type': 'application/json', 'Content-Length': length, ...headers },
    body,
  );
}
