import { Injectable } from '@nestjs/common';
import { safeToolName } from '../../agent/tool-names.js';
import { type RegisteredTool, ToolRegistry } from '../../agent/tool-registry.js';
import { sentenceOf } from '../../errors/sentence-of.js';
import { Redactor } from '../../logs/redactor.js';
import { PluginProblem } from '../plugin-problem.js';
import type { PluginRunner } from '../thread/plugin-runner.js';
import type { DescribedTool } from './described-tools.js';

/** Brings the tools of plugins into the catalogue, as `plugin__tool`. */
@Injectable()
export class PluginTools {
  private readonly offers = new Map<string, () => void>();

  constructor(
    private readonly registry: ToolRegistry,
    private readonly redactor: Redactor,
  ) {}

  /**
   * Offers the tools of this version instead of those before, in one instant: no call finds neither. Throws
   * `PluginProblem` for a name that is taken or a schema that does not compile; then what was offered stays.
   */
  offer(name: string, runner: PluginRunner, before?: PluginRunner): void {
    this.withdraw(name);
    try {
      this.offers.set(name, this.registerAll(name, runner));
    } catch (error) {
      if (before !== undefined) this.offers.set(name, this.registerAll(name, before));
      throw new PluginProblem(`its tools cannot be offered: ${sentenceOf(error)}`);
    }
  }

  isOffered(name: string): boolean {
    return this.offers.has(name);
  }

  withdraw(name: string): void {
    this.offers.get(name)?.();
    this.offers.delete(name);
  }

  private registerAll(name: string, runner: PluginRunner): () => void {
    const undo: (() => void)[] = [];
    const withdrawAll = (): void => {
      for (const withdraw of undo) withdraw();
    };
    try {
      for (const tool of runner.tools) undo.push(this.registry.register(this.registered(name, tool, runner)));
    } catch (error) {
      withdrawAll();
      throw error;
    }
    return withdrawAll;
  }

  private registered(plugin: string, tool: DescribedTool, runner: PluginRunner): RegisteredTool {
    const { name, description, inputSchema, annotations } = tool;
    // Without a way out it can destroy nothing, whatever it says of itself.
    const reachesOut = runner.pack.manifest.permissions.net.http.length > 0;
    const isHarmless = annotations.readOnlyHint === true || annotations.destructiveHint === false;
    return {
      ...{ name: safeToolName(plugin, name), description, inputSchema },
      traits: { source: plugin, isDestructive: reachesOut && !isHarmless },
      run: (args, _context, signal) => this.run(runner, name, args, signal),
    };
  }

  /** A plugin knows the secrets of its configuration; its answers are looked through for them. */
  private async run(
    runner: PluginRunner,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<string> {
    try {
      return this.redactor.redact(await runner.call(tool, args, signal));
    } catch (error) {
      if (error instanceof PluginProblem) throw new PluginProblem(this.redactor.redact(error.message));
      throw error;
    }
  }
}
