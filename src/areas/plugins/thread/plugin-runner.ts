import { type DescribedTool, parseTools, textOf } from '../described-tools.js';
import { PluginProblem } from '../plugin.js';
import type { PluginPackage } from '../plugin-package.js';
import { type PluginHost, PluginThread } from './plugin-thread.js';

const MAX_WAITING = 64;

/** Runs one version of a plugin: calls in order on one thread, and on a new thread after that was terminated. */
export class PluginRunner {
  private readonly queue: (() => void)[] = [];
  private isBusy = false;
  private isStopped = false;
  /** A newer version serves; the thread ends whenever no call is left. */
  private isRetired = false;
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
   * Returns the text of a tool's result. Throws `PluginProblem`, also when 64 calls are waiting already, and the signal's
   * reason. A running call is not interrupted by the signal: it ends or hits its time limit, and its result is dropped.
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

  /**
   * A newer version serves from now on: the thread ends when all accepted calls have been answered. A turn may have looked
   * up a tool of this version before the reload and call it only now, once its arguments are checked: that call still
   * runs, on a thread started for it.
   */
  retire(): void {
    this.isRetired = true;
    if (!this.isBusy) void this.thread.stop();
  }

  /** Ends the thread when all accepted calls have been answered; later calls are refused. */
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
    // stop() may have been called in the meantime.
    if (this.isStopped as boolean) await thread.stop();
  }

  private async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.queue.length >= MAX_WAITING) throw new PluginProblem('the plugin is busy; try again later');
    if (this.isBusy) await this.turn(signal);
    this.isBusy = true;
    return () => this.leave();
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.queue.splice(this.queue.indexOf(next), 1);
        reject(signal.reason as Error);
      };
      this.queue.push(next);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Hands the thread to the next in line; it never looks idle in between. */
  private leave(): void {
    const next = this.queue.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.isBusy = false;
    this.onIdle?.();
    if (this.isRetired) void this.thread.stop();
  }
}

function aborted(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: until });
  });
}
