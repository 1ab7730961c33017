import { Injectable } from '@nestjs/common';
import { Ajv, type ValidateFunction } from 'ajv';
import type { ModelTool } from './model-provider.port.js';
import { type ToolAnswer, ToolCatalog, type ToolContext } from './tool-catalog.port.js';

export interface RegisteredTool extends ModelTool {
  /** Runs with arguments that fit `inputSchema`; what it throws becomes the error that the model reads. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext, signal: AbortSignal): Promise<string>;
}

interface Entry {
  readonly tool: RegisteredTool;
  readonly validate: ValidateFunction;
}

const SAFE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MOST_TOOLS = 1000;

/** The tools of this process, by name. Arguments are checked against the tool's schema before it runs. */
@Injectable()
export class ToolRegistry extends ToolCatalog {
  private readonly entries = new Map<string, Entry>();
  private readonly ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });

  /** Throws for an unsafe or taken name and for a schema that does not compile. @returns what removes it again */
  register(tool: RegisteredTool): () => void {
    if (!SAFE_NAME.test(tool.name))
      throw new Error(`"${tool.name}" is not a tool name: 1 to 64 of a-z, A-Z, 0-9, _ and -.`);
    if (this.entries.has(tool.name)) throw new Error(`There is a tool "${tool.name}" already.`);
    if (this.entries.size >= MOST_TOOLS) throw new Error(`There are ${MOST_TOOLS} tools already.`);
    this.entries.set(tool.name, { tool, validate: this.ajv.compile(tool.inputSchema) });
    return () => void this.entries.delete(tool.name);
  }

  list(): readonly ModelTool[] {
    return [...this.entries.values()].map(({ tool }) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }));
  }

  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const entry = this.entries.get(name);
    if (entry === undefined) return { status: 'error', content: `There is no tool "${name.slice(0, 64)}".` };
    if (!entry.validate(args)) {
      return {
        status: 'error',
        content: `The arguments do not fit: ${this.ajv.errorsText(entry.validate.errors)}.`,
      };
    }
    try {
      return { status: 'success', content: await entry.tool.run(args, context, signal) };
    } catch (error) {
      return { status: 'error', content: error instanceof Error ? error.message : String(error) };
    }
  }
}
