import { connect, type Socket } from 'node:net';
import { serveHelper } from '../harness/serve-helper.js';

export interface ReadersQuestion {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How many connections there should be; surplus ones are closed. */
  readonly readers: number;
  /** Whether these readers never read. */
  readonly stopped: boolean;
}

export interface ReadersAnswer {
  /** How many of the open connections were answered with 200. */
  readonly answered: number;
  /** Events that all readers have received since the last question. */
  readonly events: number;
}

const AT_ONCE = 50;
const EVENT = Buffer.from('event: log');

const sockets: Socket[] = [];
let answered = 0;
let events = 0;

await serveHelper<object, ReadersQuestion, ReadersAnswer>(() => Promise.resolve({ ready: true, answer }));

async function answer(question: ReadersQuestion): Promise<ReadersAnswer> {
  while (sockets.length > question.readers) {
    sockets.pop()?.destroy();
    answered -= 1;
  }
  while (sockets.length < question.readers) {
    const missing = Math.min(AT_ONCE, question.readers - sockets.length);
    await Promise.all(Array.from({ length: missing }, () => open(question)));
  }
  const got = { answered, events };
  events = 0;
  return got;
}

function open({ port, path, headers, stopped }: ReadersQuestion): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n`);
    });
    sockets.push(socket);
    socket.on('error', reject);
    socket.once('data', (chunk: Buffer) => {
      if (chunk.subarray(0, 12).toString() === 'HTTP/1.1 200') answered += 1;
      if (stopped) socket.pause();
      else socket.on('data', (data: Buffer) => count(data));
      resolve();
    });
  });
}

function count(data: Buffer): void {
  for (let at = data.indexOf(EVENT); at !== -1; at = data.indexOf(EVENT, at + 1)) events += 1;
}
