import { setTimeout as sleep } from 'node:timers/promises';
import { serveHelper } from '../harness/serve-helper.js';

export interface MixedLoadConfig {
  readonly portA: number;
  readonly portB: number;
  readonly operationsPort: number;
  readonly token: string;
}

export interface MixedLoadQuestion {
  readonly durationMs: number;
}

export interface MixedLoadAnswer {
  /** How often each kind of operation was done. */
  readonly done: Readonly<Record<string, number>>;
  /** How many responses were wrong, and the first one. */
  readonly failures: number;
  readonly firstFailure?: string;
}

/** Pause after each operation: the load of a busy day, not the maximum. */
const PAUSE_MS = 25;
const READ_LOG_MS = 10_000;

class MixedLoad {
  private readonly done: Record<string, number> = {};
  private failures = 0;
  private firstFailure: string | undefined;

  constructor(private readonly to: MixedLoadConfig) {}

  /** All kinds of callers at once. */
  async run(durationMs: number): Promise<MixedLoadAnswer> {
    const endsAt = performance.now() + durationMs;
    const a = `http://127.0.0.1:${this.to.portA}/api/v1`;
    const b = `http://127.0.0.1:${this.to.portB}/api/v1`;
    const own = await this.newSession(a, 'session_id');
    const work: [kind: string, workers: number, () => Promise<unknown>][] = [
      ['life of a session (A)', 2, () => this.life(a, 'session_id')],
      ['life of a session (B)', 2, () => this.life(b, 'id')],
      ['streamed turn', 2, () => this.streamedTurn(b)],
      ['list', 1, () => this.take('GET', `${a}/sessions?limit=20`)],
      ['history', 1, () => this.take('GET', `${b}/sessions/${own}/messages?limit=50`)],
      ['read', 2, () => this.take('GET', `${b}/sessions/${own}`)],
      ['change of the configuration', 1, () => this.changeConfiguration(b)],
      ['refusals', 1, () => this.refusals(b)],
      ['log stream', 2, () => this.readLog(b)],
      ['scrape', 1, () => this.scrape()],
    ];
    await Promise.all(
      work.flatMap(([kind, workers, once]) =>
        Array.from({ length: workers }, () => this.repeat(kind, once, endsAt)),
      ),
    );
    const { done, failures, firstFailure } = this;
    return { done, failures, ...(firstFailure === undefined ? {} : { firstFailure }) };
  }

  private async repeat(kind: string, once: () => Promise<unknown>, endsAt: number): Promise<void> {
    while (performance.now() < endsAt) {
      try {
        await once();
        this.done[kind] = (this.done[kind] ?? 0) + 1;
      } catch (error) {
        this.failures += 1;
        this.firstFailure ??= `${kind}: ${String(error)}`;
      }
      await sleep(PAUSE_MS);
    }
  }

  /** Creates a session, talks in it, reads it, and deletes it again, so that the stored data does not grow. */
  private async life(base: string, idField: string): Promise<void> {
    const session = `${base}/sessions/${await this.newSession(base, idField)}`;
    await this.take('POST', `${session}/messages`, { content: 'How long does this last?' });
    await this.take('GET', `${session}/messages`);
    await this.take('DELETE', session);
  }

  private async streamedTurn(base: string): Promise<void> {
    const session = `${base}/sessions/${await this.newSession(base, 'id')}`;
    const accept = { accept: 'text/event-stream' };
    const answer = await this.ask('POST', `${session}/messages`, { content: 'And this?' }, accept);
    const text = await answer.text();
    if (!text.includes('event: done')) throw new Error(`no end of the answer: ${text.slice(-200)}`);
    await this.take('DELETE', session);
  }

  private async changeConfiguration(base: string): Promise<void> {
    await this.take('PATCH', `${base}/config`, { 'agent.max_turns': 10 + Math.floor(Math.random() * 10) });
    await sleep(1000);
  }

  private async refusals(base: string): Promise<void> {
    const wrong: [number, string, string, object | undefined, Record<string, string>?][] = [
      [401, 'GET', `${base}/sessions`, undefined, { authorization: 'Bearer nobody' }],
      [404, 'GET', `${base}/sessions/sess_unknown`, undefined],
      [400, 'POST', `${base}/sessions`, { nonsense: true }],
    ];
    for (const [status, method, url, body, headers] of wrong) {
      const answer = await this.ask(method, url, body, headers);
      await answer.arrayBuffer();
      if (answer.status !== status) throw new Error(`${method} ${url}: ${answer.status}, not ${status}`);
    }
  }

  private async readLog(base: string): Promise<void> {
    const leaving = AbortSignal.timeout(READ_LOG_MS);
    const answer = await this.ask('GET', `${base}/logs/stream`, undefined, {}, leaving);
    if (!answer.ok) throw new Error(`log stream: ${answer.status}`);
    await answer.text().catch(() => undefined);
  }

  private async scrape(): Promise<void> {
    await (await fetch(`http://127.0.0.1:${this.to.operationsPort}/metrics`)).text();
    await sleep(1000);
  }

  private async newSession(base: string, idField: string): Promise<string> {
    const answer = await this.ask('POST', `${base}/sessions`, {});
    const made = (await answer.json()) as Record<string, string>;
    const id = made[idField];
    if (id === undefined) throw new Error(`no session: ${answer.status} ${JSON.stringify(made)}`);
    return id;
  }

  private async take(method: string, url: string, body?: object): Promise<void> {
    const answer = await this.ask(method, url, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`);
  }

  private ask(
    method: string,
    url: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
    signal: AbortSignal | null = null,
  ): Promise<Response> {
    const authorization = `Bearer ${this.to.token}`;
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetch(url, {
      method,
      signal,
      headers: { authorization, ...type, ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
  }
}

await serveHelper<MixedLoadConfig, MixedLoadQuestion, MixedLoadAnswer>((config) =>
  Promise.resolve({ ready: true, answer: ({ durationMs }) => new MixedLoad(config).run(durationMs) }),
);
