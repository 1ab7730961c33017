import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import type { ModelTool } from '../models/models.api.js';
import { type ArgumentCheck, ArgumentChecks } from './schemas/argument-checks.js';
import { CompiledSchemas } from './schemas/compiled-schemas.js';
import {
  noSuchTool,
  type ToolAnswer,
  ToolCatalog,
  type ToolContext,
  type ToolOutput,
} from './tool-catalog.port.js';
import { ToolPolicy } from './tool-policy.js';

export interface RegisteredTool extends ModelTool {
  /** Runs with arguments that fit `inputSchema`; what it throws becomes the error that the model reads. */
  run(
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<string | ToolOutput>;
  /** Whether it may be offered right now; absent for a tool that always may. */
  isAvailable?(context: ToolContext): boolean;
  /** The name of the tool server or plugin; absent for a tool of the gateway itself. */
  readonly source?: string;
}

interface Entry {
  readonly tool: RegisteredTool;
  /** What models are shown of it. */
  readonly shown: ModelTool;
  readonly check: Pick<ArgumentCheck, 'problem'>;
  readonly forget: () => void;
}

const SAFE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_TOOLS = 1000;
const OWN_SOURCE = 'gateway';

/** The tools of this process, by name. Arguments are checked against the tool's schema before it runs. */
@Injectable()
export class ToolRegistry extends ToolCatalog {
  private readonly entries = new Map<string, Entry>();
  /** By name, rebuilt when tools come or go: models see them in the same order every time. */
  private sorted: readonly Entry[] | undefined;
  private readonly ownSchemas = new CompiledSchemas({ areOurs: true });

  constructor(
    private readonly policy: ToolPolicy,
    private readonly checks: ArgumentChecks,
  ) {
    super();
  }

  /**
   * Throws for an unsafe or taken name. Other people's schemas should have been verified with `ArgumentChecks`; they
   * are never compiled on the event loop.
   * @returns a function that removes the tool
   */
  register(tool: RegisteredTool): () => void {
    if (!SAFE_NAME.test(tool.name))
      throw new Error(`"${tool.name}" is not a tool name: 1 to 64 of a-z, A-Z, 0-9, _ and -.`);
    if (this.entries.has(tool.name)) throw new Error(`There is a tool "${tool.name}" already.`);
    if (this.entries.size >= MAX_TOOLS) throw new Error(`There are ${MAX_TOOLS} tools already.`);
    const { name, description, inputSchema } = tool;
    const entry = { tool, shown: { name, description, inputSchema }, ...this.checkOf(tool) };
    this.entries.set(tool.name, entry);
    this.sorted = undefined;
    return () => {
      entry.forget();
      if (this.entries.get(tool.name)?.tool === tool) this.entries.delete(tool.name);
      this.sorted = undefined;
    };
  }

  /** All tools, whoever may call them. */
  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  list(context: ToolContext): readonly ModelTool[] {
    this.sorted ??= [...this.entries.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
    return this.sorted
      .filter(({ tool }) => tool.isAvailable?.(context) !== false && this.policy.allows(tool.name, context))
      .map(({ shown }) => shown);
  }

  sourceOf(name: string): string | undefined {
    const entry = this.entries.get(name);
    return entry && (entry.tool.source ?? OWN_SOURCE);
  }

  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const entry = this.entries.get(name);
    if (entry === undefined) return noSuchTool(name);
    try {
      const problem = await entry.check.problem(args, signal);
      if (problem !== undefined) return { status: 'error', content: `The arguments do not fit: ${problem}.` };
      const output = await entry.tool.run(args, context, signal);
      return { status: 'success', ...(typeof output === 'string' ? { content: output } : output) };
    } catch (error) {
      return { status: 'error', content: sentenceOf(error) };
    }
  }

  private checkOf({ inputSchema, source }: RegisteredTool): Pick<Entry, 'check' | 'forget'> {
    if (source !== undefined) return { check: this.checks.of(inputSchema), forget: () => undefined };
    const own = this.ownSchemas.compile(inputSchema);
    const check = { problem: (args: unknown) => Promise.resolve(own.problem(args)) };
    return { check, forget: () => own.forget() };
  }
}
