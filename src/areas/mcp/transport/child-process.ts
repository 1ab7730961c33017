import { type ChildProcess, spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildCommand } from './child-command.js';

/** A child that is asked to end may take so long before it is told to, and then before it is made to. */
const STDIN_CLOSE_MS = 500;
const SIGTERM_MS = 1500;
/** What it wrote last is read so long after its end. */
const OUTPUT_GRACE_MS = 200;

/** One child process and its whole group, which ends with it. */
export class GroupedChild {
  readonly process: ChildProcess;
  /** How the child ended, or why it could not be started, in words. Never rejects. */
  readonly ended: Promise<string>;
  private over = false;

  constructor({ file, args, cwd, env, fourthFile, onEnd }: ChildCommand) {
    this.process = spawn(file, args, {
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      // File 3 says that the gateway lives.
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', ...(fourthFile === undefined ? [] : (['pipe'] as const))],
      // A session and a group of its own: signals reach its children too, and a terminal's reach none of them.
      detached: true,
    });
    for (const stream of this.process.stdio) stream?.on('error', () => undefined);
    if (fourthFile !== undefined) handOver(this.process.stdio[4], fourthFile);
    this.ended = new Promise((resolve) => {
      this.process.once('error', (error) => resolve(`it could not be started: ${error.message}`));
      this.process.once('exit', (code, signal) => resolve(endingText(code, signal)));
    });
    void this.ended.then(() => this.sweep()).then(onEnd);
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Asks, tells, and then makes it end. Resolves when it has ended. */
  async end(): Promise<void> {
    this.process.stdin?.end();
    if (await this.endsWithin(STDIN_CLOSE_MS)) return;
    this.signal('SIGTERM');
    if (await this.endsWithin(SIGTERM_MS)) return;
    await this.kill();
  }

  /** Ends it and everything in its group now. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  private async endsWithin(ms: number): Promise<boolean> {
    await Promise.race([this.ended, sleep(ms, undefined, { ref: false })]);
    return this.over;
  }

  /** What the child started and left behind goes too; nothing of it can hold our pipes open. */
  private sweep(): void {
    this.over = true;
    this.signal('SIGKILL');
    const recentOutput = setTimeout(() => {
      for (const stream of this.process.stdio) stream?.destroy();
    }, OUTPUT_GRACE_MS);
    this.process.once('close', () => clearTimeout(recentOutput));
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // The group is empty already.
    }
  }
}

function handOver(pipe: ChildProcess['stdio'][4], bytes: Uint8Array): void {
  if (pipe instanceof Writable) pipe.end(bytes);
}

function endingText(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it exited with code ${String(code)}` : `it was ended by ${signal}`;
}
