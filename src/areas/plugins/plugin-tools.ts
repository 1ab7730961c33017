import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { ArgumentChecks, type RegisteredTool, safeToolName, ToolRegistry } from '../tools/tools.api.js';
import type { DescribedTool } from './described-tools.js';
import { PluginProblem } from './plugin.js';
import type { PluginRunner } from './thread/plugin-runner.js';

/** Registers the tools of plugins in the catalogue, as `plugin__tool`. */
@Injectable()
export class PluginTools {
  private readonly offers = new Map<string, () => void>();

  constructor(
    private readonly registry: ToolRegistry,
    private readonly checks: ArgumentChecks,
    private readonly redactor: Redactor,
  ) {}

  /** Throws `PluginProblem` when the schema of one of its tools cannot be used. */
  async verify({ tools }: Pick<PluginRunner, 'tools'>): Promise<void> {
    for (const { name, inputSchema } of tools) {
      const problem = await this.checks.of(inputSchema).verify();
      if (problem !== undefined)
        throw new PluginProblem(`its tools cannot be offered: of "${name.slice(0, 64)}" ${problem}`);
    }
  }

  /**
   * Replaces the tools of `before` with those of this verified version in one synchronous step, so that no call finds
   * neither. Throws `PluginProblem` for a name that is taken, and then keeps the tools of `before`.
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
    const { name, description, inputSchema } = tool;
    return {
      ...{ name: safeToolName(plugin, name), description, inputSchema },
      source: plugin,
      run: (args, _context, signal) => this.run(runner, name, args, signal),
    };
  }

  /** Redacts the result, because the plugin knows the secrets of its configuration. */
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
