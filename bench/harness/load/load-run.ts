import { connect, type Socket } from 'node:net';
import { percentile } from '../statistics.js';
import { AnswerReader } from './answer-reader.js';
import type { LoadPlan, LoadResult } from './load-plan.js';

/**
 * One slot of load: opens the connections, keeps them busy until the time is over, and waits for the last responses.
 */
export class LoadRun {
  private readonly latencies: number[] = [];
  private readonly requests: readonly Buffer[];
  private turn = 0;
  private errors = 0;
  private firstError: string | undefined;
  private endsAt = Number.POSITIVE_INFINITY;

  constructor(private readonly plan: LoadPlan) {
    this.requests = plan.paths.map((path) => request(plan, path));
  }

  async run(): Promise<LoadResult> {
    const clients = Array.from({ length: this.plan.clients }, (_, index) => index);
    const sockets = await Promise.all(clients.map(() => open(this.plan.port)));
    const startedAt = performance.now();
    this.endsAt = startedAt + this.plan.durationMs;
    await Promise.all(sockets.map((socket, index) => this.keepBusy(socket, index)));
    const seconds = (performance.now() - startedAt) / 1000;
    for (const socket of sockets) socket.destroy();
    const { latencies, errors, firstError } = this;
    const ascending = Float64Array.from(latencies).sort();
    return {
      requests: latencies.length,
      seconds,
      p50Ms: percentile(ascending, 0.5),
      p99Ms: percentile(ascending, 0.99),
      errors,
      ...(firstError === undefined ? {} : { firstError }),
    };
  }

  private keepBusy(socket: Socket, client: number): Promise<void> {
    const reader = new AnswerReader();
    let own = client;
    let sentAt = 0;
    const send = (): void => {
      const index = this.plan.ownPaths === true ? own : this.turn++;
      own += this.plan.clients;
      sentAt = performance.now();
      socket.write(this.requests[index % this.requests.length] ?? '');
    };
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('The server closed a connection in use.')));
      socket.on('data', (chunk: Buffer) => {
        const answer = reader.push(chunk);
        if (answer === undefined) return;
        const now = performance.now();
        this.latencies.push(now - sentAt);
        if (answer.status < 200 || answer.status > 299) this.noteError(answer.beginning);
        if (now < this.endsAt) send();
        else resolve();
      });
      send();
    });
  }

  private noteError(answer: string): void {
    this.errors += 1;
    this.firstError ??= answer;
  }
}

function request({ method, headers, body }: LoadPlan, path: string): Buffer {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const all = Object.entries({ Host: 'localhost', ...headers, ...length });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n${body ?? ''}`);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
