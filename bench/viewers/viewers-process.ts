import { connect, type Socket } from 'node:net';
import { serveHelper } from '../harness/serve-helper.js';

export interface ViewersQuestion {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Each session gets one viewer; the viewers of sessions that are no longer named are closed. */
  readonly sessions: readonly string[];
}

export interface ViewersAnswer {
  /** Open connections that were accepted. */
  readonly watching: number;
  /** How many of the named sessions had no viewer before, or had lost it. */
  readonly opened: number;
  /** The first response that refused one. */
  readonly refused?: string;
}

const AT_ONCE = 50;
const WEBSOCKET = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

const viewers = new Map<string, Socket>();
const accepted = new Set<string>();
let refused: string | undefined;

await serveHelper<object, ViewersQuestion, ViewersAnswer>(() => Promise.resolve({ ready: true, answer }));

async function answer(question: ViewersQuestion): Promise<ViewersAnswer> {
  const wanted = new Set(question.sessions);
  for (const [session, socket] of viewers) if (!wanted.has(session)) socket.destroy();
  const missing = question.sessions.filter((session) => !viewers.has(session));
  for (let from = 0; from < missing.length; from += AT_ONCE)
    await Promise.all(
      missing.slice(from, from + AT_ONCE).map((session, n) => open(question, session, n % 2)),
    );
  return { watching: accepted.size, opened: missing.length, ...(refused !== undefined && { refused }) };
}

/** Alternately a WebSocket and an event stream. Resolves with the first bytes of the response. */
function open({ port, headers }: ViewersQuestion, session: string, kind: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const [path, more] =
      kind === 0
        ? [`/api/v1/sessions/${session}/messages`, { Accept: 'text/event-stream' }]
        : [`/ws/sessions/${session}`, WEBSOCKET];
    const lines = Object.entries({ Host: 'localhost', ...headers, ...more }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
    );
    viewers.set(session, socket);
    socket.on('error', reject);
    socket.once('close', () => {
      viewers.delete(session);
      accepted.delete(session);
    });
    socket.once('data', (chunk: Buffer) => {
      const head = chunk.toString('latin1');
      if (/^HTTP\/1\.1 (200|101)/.test(head)) accepted.add(session);
      else refused ??= head;
      socket.on('data', kind === 0 ? () => undefined : (frames) => answerPings(socket, frames));
      resolve();
    });
  });
}

const PING = 9;

/** The gateway ends WebSockets whose client does not answer. Its frames are short, and arrive whole. */
function answerPings(socket: Socket, frames: Buffer): void {
  for (let at = 0; at + 1 < frames.length; ) {
    const [opcode, length] = [frames.readUInt8(at) & 0x0f, frames.readUInt8(at + 1) & 0x7f];
    const [start, size] = length === 126 ? [at + 4, frames.readUInt16BE(at + 2)] : [at + 2, length];
    // A mask of zeros leaves the payload as it is.
    if (opcode === PING)
      socket.write(
        Buffer.concat([Buffer.from([0x8a, 0x80 | size, 0, 0, 0, 0]), frames.subarray(start, start + size)]),
      );
    at = start + size;
  }
}
