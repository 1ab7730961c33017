import { Pool } from 'undici';
import type { Figures } from '../harness/compare.js';
import { cpuSeconds } from '../harness/process-figures.js';
import { percentile } from '../harness/statistics.js';
import type { System } from './system.js';

const ANSWER_LIMIT_MS = 60_000;

/** Clients of one system. Each has its own session and sends its next message when the answer has arrived. */
export class TurnClients {
  private readonly pool: Pool;
  private readonly headers: Record<string, string>;
  private sessions: readonly string[] = [];

  constructor(
    readonly system: System,
    private readonly clients: number,
  ) {
    const { origin } = new URL(system.base);
    const limits = { headersTimeout: ANSWER_LIMIT_MS, bodyTimeout: ANSWER_LIMIT_MS };
    this.pool = new Pool(origin, { connections: clients, pipelining: 1, ...limits });
    this.headers = { 'content-type': 'application/json', ...system.headers };
  }

  async open(): Promise<void> {
    this.sessions = await Promise.all(Array.from({ length: this.clients }, () => this.newSession()));
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /** Throws at the first response that is not an answer. */
  async run(durationMs: number): Promise<Figures> {
    const { pid } = this.system;
    const cpu = () => (pid === undefined ? Number.NaN : cpuSeconds(pid));
    const [latencies, startedAt, cpuBefore] = [[] as number[], performance.now(), cpu()];
    const endsAt = startedAt + durationMs;
    await Promise.all(this.sessions.map((session) => this.talk(session, endsAt, latencies)));
    const seconds = (performance.now() - startedAt) / 1000;
    const ascending = Float64Array.from(latencies).sort();
    return {
      perSecond: latencies.length / seconds,
      p50Ms: percentile(ascending, 0.5),
      p99Ms: percentile(ascending, 0.99),
      cpuMsPerRequest: ((cpu() - cpuBefore) * 1000) / latencies.length,
    };
  }

  private async talk(session: string, endsAt: number, latencies: number[]): Promise<void> {
    while (performance.now() < endsAt) {
      const askedAt = performance.now();
      const answer = await this.ask(this.system.turn, session);
      latencies.push(performance.now() - askedAt);
      if (!answer.includes(this.system.expect))
        throw new Error(`${this.system.name} answered without the model: ${answer.slice(0, 400)}`);
    }
  }

  private async newSession(): Promise<string> {
    const { session } = this.system;
    if (session === undefined) return '';
    const made = JSON.parse(await this.ask(session, '')) as Record<string, unknown>;
    const id = made[session.idField];
    if (typeof id !== 'string')
      throw new Error(`${this.system.name} made no session: ${JSON.stringify(made)}`);
    return id;
  }

  private async ask({ method, path, body }: System['turn'], session: string): Promise<string> {
    const filled = (text: string) => text.replaceAll('{session}', session);
    const answer = await this.pool.request({
      path: new URL(this.system.base).pathname.replace(/\/$/, '') + filled(path),
      method,
      headers: this.headers,
      body: filled(JSON.stringify(body)),
    });
    const text = await answer.body.text();
    if (answer.statusCode > 299) throw new Error(`${this.system.name}: ${answer.statusCode} ${text}`);
    return text;
  }
}
