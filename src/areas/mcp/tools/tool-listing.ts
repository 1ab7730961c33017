import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import { schemaBoundsProblem } from '../../tools/tools.api.js';

const MAX_DEFINITION_BYTES = 131_072;

/** The parts of a tool that steer a model or a decision about it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
}

export function definitionOf({
  name,
  description = '',
  inputSchema,
  annotations = {},
}: Tool): ToolDefinition {
  return { name, description, inputSchema, annotations };
}

/** Whether it has a name and at most 128 KiB as JSON. */
export function isWithinSize(definition: ToolDefinition): boolean {
  return definition.name !== '' && JSON.stringify(definition).length <= MAX_DEFINITION_BYTES;
}

/** The same text for the same definition, in any order of keys. */
export function fingerprintOf(definition: ToolDefinition): string {
  return createHash('sha256').update(canonical(definition)).digest('hex');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  const sorted = entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`).join(',')}}`;
}

const MAX_TOOLS = 2000;
const MAX_BYTES = 4_194_304;

/** The tools that a server lists, within the bounds. */
export interface ToolListing {
  readonly definitions: readonly ToolDefinition[];
  /** By tool name, for tools that have one. */
  readonly outputSchemas: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** How many tools were left out: too large or too many. */
  readonly leftOut: number;
  /** Names of tools whose calls are made as tasks. */
  readonly asTasks: ReadonlySet<string>;
  /** Names of tools that only run as tasks at a server that runs none; they are not offered. */
  readonly tasksOnly: readonly string[];
}

/** @param runsTasks whether the server runs calls as tasks: what its tools say counts for nothing without that */
export function listingOf(tools: readonly Tool[], leftOut: number, runsTasks = false): ToolListing {
  const isLeftOut = (tool: Tool): boolean => !runsTasks && taskSupport(tool) === 'required';
  const usable = tools.filter((tool) => !isLeftOut(tool));
  const asTasks = usable.filter((tool) => ['required', 'optional'].includes(taskSupport(tool)));
  return {
    definitions: usable.map(definitionOf),
    outputSchemas: new Map(
      usable.flatMap(({ name, outputSchema }) => (outputSchema === undefined ? [] : [[name, outputSchema]])),
    ),
    leftOut,
    asTasks: new Set(runsTasks ? asTasks.map(({ name }) => name) : []),
    tasksOnly: tools.filter(isLeftOut).map(({ name }) => name),
  };
}

function taskSupport({ execution }: Tool): string {
  return execution?.taskSupport ?? 'forbidden';
}

/**
 * Cuts lists of tools to their bounds before anything else reads them: 2,000 tools and 4 MiB in all, and for one tool what
 * `schemaBoundsProblem` allows. One list may arrive in several messages.
 */
export class ListBounds {
  private tools = 0;
  private bytes = 0;
  private left = 0;

  /** How many tools were left out since `reset`. */
  get leftOut(): number {
    return this.left;
  }

  /** Starts the count for the next list. */
  reset(): void {
    this.tools = 0;
    this.bytes = 0;
    this.left = 0;
  }

  /** Cuts this message of a server in place if it is a list of tools. */
  readonly cut = (message: unknown): void => {
    const { result } = message as { result?: { tools?: unknown } | null };
    if (typeof result !== 'object' || result === null || !Array.isArray(result.tools)) return;
    result.tools = result.tools.flatMap((tool: unknown) => this.within(tool));
  };

  private within(tool: unknown): unknown[] {
    if (typeof tool !== 'object' || tool === null) return [tool];
    const { name, description, inputSchema, annotations, execution, outputSchema } = tool as Partial<Tool>;
    const bare = { name, description, inputSchema, annotations, execution };
    const isWithin = this.tools < MAX_TOOLS && schemaBoundsProblem(bare) === undefined;
    const output = isWithin && schemaBoundsProblem(outputSchema) === undefined ? { outputSchema } : {};
    const text = isWithin ? JSON.stringify({ ...bare, ...output }) : '';
    if (!isWithin || this.bytes + text.length > MAX_BYTES) {
      this.left += 1;
      return [];
    }
    this.tools += 1;
    this.bytes += text.length;
    return [JSON.parse(text)];
  }
}

/** Tools whose arguments are headers, too (`x-mcp-header`); without output schemas, which the client library would compile. */
export function headedTools({ definitions }: ToolListing): ReadonlyMap<string, Tool> {
  const headed = definitions.filter(({ inputSchema }) =>
    JSON.stringify(inputSchema).includes('"x-mcp-header"'),
  );
  return new Map(
    headed.map(({ name, inputSchema }) => [name, { name, inputSchema: inputSchema as Tool['inputSchema'] }]),
  );
}
