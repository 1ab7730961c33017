import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayProcess, ProcessBench } from '../../harness/gateway-process.js';
import { HttpCaller } from '../../harness/http-caller.js';

export type Profile = 'a' | 'b';
const START_LIMIT_MS = 90_000;
/** A stop takes as long as a turn. Without its database it may take the time-outs of its connections. */
const STOP_LIMIT_MS = 60_000;

interface Connections {
  readonly servers: readonly { readonly status: string }[];
}

/** Runs one gateway again and again, as an orchestrator does: when a process ends, a new one starts. */
export class GatewayPlace {
  /** The process that serves now; undefined while there is none. */
  running: GatewayProcess | undefined;
  readonly killed: { readonly pid: number; readonly at: Date }[] = [];
  /** Unexpected ends. */
  readonly fell: string[] = [];
  /** Every process that served here, in order. */
  readonly processes: GatewayProcess[] = [];
  private work = Promise.resolve();

  constructor(
    readonly name: string,
    private readonly bench: ProcessBench,
    private readonly env: Readonly<Record<string, string>>,
    private readonly token: string,
  ) {}

  at(profile: Profile): HttpCaller | undefined {
    return this.running === undefined ? undefined : new HttpCaller(this.running[profile], this.token);
  }

  /** A start that fails, for example because the database is down, is tried again. */
  async start(): Promise<void> {
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      try {
        const process = await this.bench.serve({ env: this.env });
        this.processes.push(process);
        await this.untilItHasItsTools(process, deadline);
        this.running = process;
        void process.ended.then((end) => {
          if (this.running === process)
            this.fell.push(
              `${this.name} ended by itself with ${end.code ?? end.signal}: ${(end.stdout + end.stderr)
                .split('\n')
                .filter((line) => line.includes('stops because'))
                .slice(-3)
                .join('\n')}`,
            );
        });
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await sleep(200);
      }
    }
  }

  /** Does one thing at a time to this gateway: `meanwhile` runs after the end and before the next start. */
  kill(meanwhile: (pid: number) => Promise<void>): Promise<void> {
    return this.next(async (process) => {
      process.kill('SIGKILL');
      await process.ended;
      this.killed.push({ pid: process.pid, at: new Date() });
      await meanwhile(process.pid);
    });
  }

  /** @returns what was wrong with its end */
  async terminate(): Promise<string | undefined> {
    let wrong: string | undefined;
    await this.next(async (process) => {
      process.kill('SIGTERM');
      const end = await Promise.race([process.ended, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
      if (end === undefined) {
        wrong = `${this.name} still runs ${STOP_LIMIT_MS} ms after SIGTERM`;
        process.kill('SIGKILL');
      } else if (end.code !== 0) wrong = `${this.name} ended with ${end.code ?? end.signal} after SIGTERM`;
    });
    return wrong;
  }

  /** Ends it at once and for good. */
  async end(): Promise<void> {
    await this.work.catch(() => undefined);
    this.running?.kill('SIGKILL');
    await this.running?.ended;
  }

  private next(work: (process: GatewayProcess) => Promise<void>): Promise<void> {
    const done = this.work.then(async () => {
      const process = this.running;
      if (process === undefined) throw new Error(`Nothing runs at ${this.name}.`);
      this.running = undefined;
      await work(process);
      await this.start();
    });
    this.work = done;
    return done;
  }

  private async untilItHasItsTools(process: GatewayProcess, deadline: number): Promise<void> {
    const caller = new HttpCaller(process.b, this.token);
    for (;;) {
      const answer = await caller.get<Connections>('/mcp');
      if (answer.status === 200 && answer.body.servers.every(({ status }) => status === 'connected')) return;
      if (performance.now() > deadline) throw new Error(`${this.name} has no tools: ${answer.text}`);
      await sleep(50);
    }
  }
}
