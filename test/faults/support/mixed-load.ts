import { setTimeout as sleep } from 'node:timers/promises';
import type { Balancer } from './balancers.js';

const TURN = JSON.stringify({ content: 'Hello' });

/** The requests through one balancer, and what went wrong. */
export class MixedLoad {
  readonly done = new Map<string, number>();
  readonly failures: string[] = [];
  private readonly stopping = new AbortController();
  private readonly workers: Promise<void>[] = [];

  constructor(
    private readonly balancer: Balancer,
    private readonly token: string,
  ) {}

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  get total(): number {
    return [...this.done.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Runs readers, writers, turns, streamed turns and log streams at once until it is stopped. */
  async start(): Promise<void> {
    const { id } = (await (await this.ask('POST', '/sessions', '{}')).json()) as { id: string };
    const kinds: [string, number, () => Promise<void>][] = [
      ['read', 4, () => this.take('GET', `/sessions/${id}`)],
      ['list', 1, () => this.take('GET', '/sessions?limit=5')],
      ['write', 2, () => this.take('POST', '/sessions', '{}')],
      ['turn', 2, () => this.turn()],
      ['streamed turn', 1, () => this.streamedTurn()],
      ['log stream', 2, () => this.logStream()],
    ];
    for (const [kind, workers, work] of kinds)
      for (let i = 0; i < workers; i += 1) this.workers.push(this.repeat(kind, work));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.workers);
  }

  private async repeat(kind: string, work: () => Promise<void>): Promise<void> {
    while (!this.isStopping) {
      try {
        await work();
        this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
      } catch (error) {
        this.note(kind, error);
      }
      // A steady load, not the maximum: the machine must be able to start processes meanwhile.
      await sleep(5);
    }
  }

  /** A log stream lasts until the test ends it. */
  private note(kind: string, error: unknown): void {
    if (this.isStopping && kind === 'log stream') return;
    this.failures.push(`${this.balancer.name}: ${kind}: ${reasonOf(error)}`);
  }

  private async turn(): Promise<void> {
    const { id } = (await (await this.ask('POST', '/sessions', '{}')).json()) as { id: string };
    await this.take('POST', `/sessions/${id}/messages`, TURN);
  }

  private async streamedTurn(): Promise<void> {
    const { id } = (await (await this.ask('POST', '/sessions', '{}')).json()) as { id: string };
    const answer = await this.ask('POST', `/sessions/${id}/messages`, TURN, 'text/event-stream');
    const text = await answer.text();
    if (!text.includes('event: done')) throw new Error(`the stream ended without its answer: ${text}`);
  }

  /** Reads until the gateway tells it to come back, which is no failure. Any other end is one. */
  private async logStream(): Promise<void> {
    const answer = await this.ask(
      'GET',
      '/logs/stream',
      undefined,
      'text/event-stream',
      this.stopping.signal,
    );
    const text = await answer.text();
    if (!/\nretry: ?\d+\s*$/.test(text.trimEnd().slice(-200)))
      throw new Error(`the stream ended without a hint: …${text.slice(-200)}`);
  }

  private async take(method: string, path: string, body?: string): Promise<void> {
    await (await this.ask(method, path, body)).arrayBuffer();
  }

  private async ask(
    method: string,
    path: string,
    body?: string,
    accept = 'application/json',
    signal?: AbortSignal,
  ): Promise<Response> {
    const answer = await fetch(this.balancer.base + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        accept,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return answer;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
