import { sentenceOf } from '../../common/errors/error-text.js';
import type { Plugin, PluginStatus } from './plugin.js';
import type { PluginFolder } from './plugin-directory.port.js';
import type { PluginState } from './plugin-state.store.js';
import type { PluginTools } from './plugin-tools.js';
import type { PluginRunner } from './thread/plugin-runner.js';

/** What an installed plugin depends on. */
export interface PluginParts {
  /** Reads it from the disk and starts it. Throws `PluginProblem`. */
  readonly start: (name: string) => Promise<PluginRunner>;
  readonly tools: PluginTools;
  readonly redact: (text: string) => string;
}

const NO_STATE = { disabled: false, revision: 0, loads: 0 };

/** One plugin of this process: the version that serves, and whether its tools are offered. Callers serialize the changes. */
export class InstalledPlugin {
  private runner: PluginRunner | undefined;
  private error: string | undefined;
  private state: Omit<PluginState, 'name'>;

  constructor(
    readonly name: string,
    state: PluginState | undefined,
    private readonly parts: PluginParts,
  ) {
    this.state = state ?? NO_STATE;
  }

  get status(): PluginStatus {
    if (this.state.disabled) return 'disabled';
    return this.runner !== undefined && this.parts.tools.isOffered(this.name) ? 'loaded' : 'failed';
  }

  get version(): string {
    return this.runner?.pack.manifest.version ?? '';
  }

  get folder(): PluginFolder | undefined {
    if (this.runner === undefined || this.status !== 'loaded') return undefined;
    return { name: this.name, folder: this.runner.pack.folder };
  }

  describe(): Plugin {
    const { manifest } = this.runner?.pack ?? {};
    return {
      name: this.name,
      version: this.version,
      status: this.status,
      type: manifest?.type ?? 'tool',
      capabilities: manifest?.capabilities ?? [],
      memoryBytes: this.runner?.memoryBytes ?? 0,
      error: this.status === 'failed' ? this.error : undefined,
    };
  }

  /**
   * Starts the version on disk and lets it serve once `settle` has stored the change; if `settle` fails, everything stays
   * as before. The previous version finishes its accepted calls and ends. Throws `PluginProblem`, and the error of `settle`.
   */
  async load(settle: (version: string) => Promise<PluginState | undefined>): Promise<void> {
    const before = this.runner;
    const wasOffered = before !== undefined && this.parts.tools.isOffered(this.name);
    const next = await this.started();
    try {
      await this.parts.tools.verify(next);
      this.parts.tools.offer(this.name, next, wasOffered ? before : undefined);
      const state = await settle(next.pack.manifest.version);
      if (state !== undefined) this.state = state;
    } catch (error) {
      if (wasOffered) this.parts.tools.offer(this.name, before);
      else this.parts.tools.withdraw(this.name);
      await next.stop();
      this.remember(error);
      throw error;
    }
    this.runner = next;
    this.error = undefined;
    before?.retire();
  }

  /** Offers the tools of the running version again, unless `settle` fails. Throws `PluginProblem`, and the error of `settle`. */
  async offer(settle: () => Promise<PluginState>): Promise<void> {
    try {
      if (this.runner !== undefined) this.parts.tools.offer(this.name, this.runner);
      this.state = await settle();
    } catch (error) {
      this.parts.tools.withdraw(this.name);
      this.remember(error);
      throw error;
    }
  }

  /** Withdraws the tools. The thread stays, and running calls finish. */
  disable(state: PluginState): void {
    this.state = state;
    this.parts.tools.withdraw(this.name);
  }

  get isRunning(): boolean {
    return this.runner !== undefined;
  }

  /** Whether the stored state is newer than the applied one. */
  isBehind({ revision }: PluginState): boolean {
    return revision > this.state.revision;
  }

  hasMissedReload({ loads }: PluginState): boolean {
    return loads > this.state.loads;
  }

  accept(state: PluginState): void {
    this.state = state;
  }

  async remove(how: 'drain' | 'stop'): Promise<void> {
    this.parts.tools.withdraw(this.name);
    const { runner } = this;
    this.runner = undefined;
    await (how === 'drain' ? runner?.drain() : runner?.stop());
  }

  private async started(): Promise<PluginRunner> {
    try {
      return await this.parts.start(this.name);
    } catch (error) {
      this.remember(error);
      throw error;
    }
  }

  private remember(error: unknown): void {
    this.error = this.parts.redact(sentenceOf(error));
  }
}
