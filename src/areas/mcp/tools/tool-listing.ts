import type { Tool } from '@modelcontextprotocol/client';
import { schemaBoundsProblem } from '../../tools/schemas/schema-bounds.js';
import { definitionOf, type ToolDefinition } from './tool-definition.js';

const MAX_TOOLS = 2000;
const MAX_BYTES = 4_194_304;

/** What a server says its tools are, within the bounds. */
export interface ToolListing {
  readonly definitions: readonly ToolDefinition[];
  /** By the names of tools; of those that have one. */
  readonly outputSchemas: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** How many were left out: too large, or too many. */
  readonly leftOut: number;
  /** Tools that run as tasks only, which are not offered. */
  readonly tasksOnly: readonly string[];
}

export function listingOf(tools: readonly Tool[], leftOut: number): ToolListing {
  const usable = tools.filter((tool) => !isTaskOnly(tool));
  return {
    definitions: usable.map(definitionOf),
    outputSchemas: new Map(
      usable.flatMap(({ name, outputSchema }) => (outputSchema === undefined ? [] : [[name, outputSchema]])),
    ),
    leftOut,
    tasksOnly: tools.filter(isTaskOnly).map(({ name }) => name),
  };
}

function isTaskOnly({ execution }: Tool): boolean {
  return execution?.taskSupport === 'required';
}

/**
 * Cuts lists of tools to their bounds before anything else reads them: in all 2,000 tools and 4 MiB, of one tool what
 * `schemaBoundsProblem` allows. One list may come in many messages.
 */
export class ListBounds {
  private tools = 0;
  private bytes = 0;
  private left = 0;

  /** How many tools were left out since the last list began. */
  get leftOut(): number {
    return this.left;
  }

  /** Another list begins. */
  reset(): void {
    this.tools = 0;
    this.bytes = 0;
    this.left = 0;
  }

  /** Cuts this message of a server, when it is a list of tools. */
  readonly cut = (message: unknown): void => {
    const { result } = message as { result?: { tools?: unknown } | null };
    if (typeof result !== 'object' || result === null || !Array.isArray(result.tools)) return;
    result.tools = result.tools.flatMap((tool: unknown) => this.within(tool));
  };

  private within(tool: unknown): unknown[] {
    if (typeof tool !== 'object' || tool === null) return [tool];
    const { name, description, inputSchema, annotations, execution, outputSchema } = tool as Partial<Tool>;
    const said = { name, description, inputSchema, annotations, execution };
    const isWithin = this.tools < MAX_TOOLS && schemaBoundsProblem(said) === undefined;
    const output = isWithin && schemaBoundsProblem(outputSchema) === undefined ? { outputSchema } : {};
    const text = isWithin ? JSON.stringify({ ...said, ...output }) : '';
    if (!isWithin || this.bytes + text.length > MAX_BYTES) {
      this.left += 1;
      return [];
    }
    this.tools += 1;
    this.bytes += text.length;
    return [JSON.parse(text)];
  }
}
