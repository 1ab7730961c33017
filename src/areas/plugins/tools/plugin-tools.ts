import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../../common/errors/sentence-of.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { ArgumentChecks } from '../../tools/schemas/argument-checks.js';
import { safeToolName } from '../../tools/tool-names.js';
import { type RegisteredTool, ToolRegistry } from '../../tools/tool-registry.js';
import { PluginProblem } from '../plugin-problem.js';
import type { PluginRunner } from '../thread/plugin-runner.js';
import type { DescribedTool } from './described-tools.js';

/** Brings the tools of plugins into the catalogue, as `plugin__tool`. */
@Injectable()
export class PluginTools {
  private readonly offers = new Map<string, () => void>();

  constructor(
    private readonly registry: ToolRegistry,
    private readonly checks: ArgumentChecks,
    private readonly redactor: Redactor,
  ) {}

  /** Throws `PluginProblem` when the schema of a tool of this version cannot be used. */
  async verify({ tools }: Pick<PluginRunner, 'tools'>): Promise<void> {
    for (const { name, inputSchema } of tools) {
      const problem = await this.checks.of(inputSchema).verify();
      if (problem !== undefined)
        throw new PluginProblem(`its tools cannot be offered: of "${name.slice(0, 64)}" ${problem}`);
    }
  }

  /**
   * Offers the tools of this version, which was verified, instead of those before, in one instant: no call finds
   * neither. Throws `PluginProblem` for a name that is taken; then what was offered stays.
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
