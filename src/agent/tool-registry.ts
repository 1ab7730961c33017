import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../errors/sentence-of.js';
import { type ArgumentCheck, ArgumentChecks } from './argument-check.js';
import type { ModelTool } from './model-provider.port.js';
import { type ToolAnswer, ToolCatalog, type ToolContext, type ToolTraits } from './tool-catalog.port.js';
import { ToolPolicy } from './tool-policy.js';

export interface RegisteredTool extends ModelTool {
  /** Runs with arguments that fit `inputSchema`; what it throws becomes the error that the model reads. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext, signal: AbortSignal): Promise<string>;
  /** Whether it may be offered right now; absent for a tool that always may. */
  isAvailable?(): boolean;
  /** Absent for a tool of the gateway itself, which destroys nothing. */
  readonly traits?: ToolTraits;
}

interface Entry {
  readonly tool: RegisteredTool;
  readonly check: ArgumentCheck;
}

const SAFE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MOST_TOOLS = 1000;
const OWN_TRAITS: ToolTraits = { source: 'gateway', isDestructive: false };

/** The tools of this process, by name. Arguments are checked against the tool's schema before it runs. */
@Injectable()
export class ToolRegistry extends ToolCatalog {
  private readonly entries = new Map<string, Entry>();
  private readonly checks = new ArgumentChecks();

  constructor(private readonly policy: ToolPolicy) {
    super();
  }

  /** Throws for an unsafe or taken name and for a schema that does not compile. @returns what removes it again */
  register(tool: RegisteredTool): () => void {
    if (!SAFE_NAME.test(tool.name))
      throw new Error(`"${tool.name}" is not a tool name: 1 to 64 of a-z, A-Z, 0-9, _ and -.`);
    if (this.entries.has(tool.name)) throw new Error(`There is a tool "${tool.name}" already.`);
    if (this.entries.size >= MOST_TOOLS) throw new Error(`There are ${MOST_TOOLS} tools already.`);
    const check = this.checks.compile(tool.inputSchema);
    this.entries.set(tool.name, { tool, check });
    return () => {
      check.forget();
      if (this.entries.get(tool.name)?.tool === tool) this.entries.delete(tool.name);
    };
  }

  list(context: ToolContext): readonly ModelTool[] {
    return [...this.entries.values()]
      .filter(({ tool }) => tool.isAvailable?.() !== false && this.policy.allows(tool.name, context))
      .map(({ tool: { name, description, inputSchema } }) => ({ name, description, inputSchema }));
  }

  traitsOf(name: string): ToolTraits | undefined {
    const entry = this.entries.get(name);
    return entry && (entry.tool.traits ?? OWN_TRAITS);
  }

  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const entry = this.entries.get(name);
    if (entry === undefined) return { status: 'error', content: `There is no tool "${name.slice(0, 64)}".` };
    const problem = entry.check.problem(args);
    if (problem !== undefined) return { status: 'error', content: `The arguments do not fit: ${problem}.` };
    try {
      return { status: 'success', content: await entry.tool.run(args, context, signal) };
    } catch (error) {
      return { status: 'error', content: sentenceOf(error) };
    }
  }
}
