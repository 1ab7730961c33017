import type { PluginPackage } from '../folder/plugin-package.js';
import { PluginProblem } from '../plugin-problem.js';
import { type DescribedTool, parseTools, textOf } from '../tools/described-tools.js';
import { type PluginHost, PluginThread } from './plugin-thread.js';

const MAX_WAITING = 64;

/** One version of a plugin at work: calls in their order on one thread, and a new thread when that had to be ended. */
export class PluginRunner {
  private readonly line: (() => void)[] = [];
  private isBusy = false;
  private isStopped = false;
  private onIdle: (() => void) | undefined;

  private constructor(
    readonly pack: PluginPackage,
    readonly tools: readonly DescribedTool[],
    private thread: PluginThread,
    private readonly host: PluginHost,
  ) {}

  /** Throws `PluginProblem`. */
  static async start(pack: PluginPackage, host: PluginHost): Promise<PluginRunner> {
    const { thread, described } = await PluginThread.start(pack, host);
    try {
      return new PluginRunner(pack, parseTools(described, pack.manifest.capabilities), thread, host);
    } catch (error) {
      await thread.stop();
      throw error;
    }
  }

  get memoryBytes(): number {
    return this.thread.memoryBytes;
  }

  /**
   * The text of a tool's result. Throws `PluginProblem`, also when 64 calls wait already; and the signal's reason,
   * then a call that has begun goes on to its end or its limit, unheard.
   */
  async call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
    const leave = await this.enter(signal);
    const running = this.run(tool, args).finally(leave);
    const stopped = new AbortController();
    try {
      return await Promise.race([running, aborted(signal, stopped.signal)]);
    } finally {
      stopped.abort();
    }
  }

  /** When everything that was accepted has been answered, ends the thread. */
  async drain(): Promise<void> {
    if (this.isBusy) await new Promise<void>((resolve) => (this.onIdle = resolve));
    await this.stop();
  }

  stop(): Promise<void> {
    this.isStopped = true;
    return this.thread.stop();
  }

  private async run(tool: string, args: Readonly<Record<string, unknown>>): Promise<string> {
    if (this.thread.isGone) await this.startAgain();
    const input = JSON.stringify({ params: { name: tool, arguments: args } });
    return textOf(await this.thread.call(input, this.pack.callTimeoutMs));
  }

  private async startAgain(): Promise<void> {
    if (this.isStopped) throw new PluginProblem('the plugin was stopped');
    const { thread } = await PluginThread.start(this.pack, this.host);
    this.thread = thread;
    // It was stopped meanwhile.
    if (this.isStopped as boolean) await thread.stop();
  }

  private async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.line.length >= MAX_WAITING) throw new PluginProblem('the plugin is busy; try again later');
    if (this.isBusy) await this.turn(signal);
    this.isBusy = true;
    return () => this.leave();
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        signal.removeEventListener('abort', give);
        resolve();
      };
      const give = (): void => {
        this.line.splice(this.line.indexOf(next), 1);
        reject(signal.reason as Error);
      };
      this.line.push(next);
      signal.addEventListener('abort', give, { once: true });
    });
  }

  /** Hands the thread to the next in line without a moment in which it seems free. */
  private leave(): void {
    const next = this.line.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.isBusy = false;
    this.onIdle?.();
  }
}

function aborted(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: until });
  });
}
