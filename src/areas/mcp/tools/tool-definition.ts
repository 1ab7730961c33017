import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';

const MAX_DEFINITION_BYTES = 131_072;

/** Everything of a tool that a model or a decision is guided by. */
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

/** Whether it is of a size that is worth offering to a model. */
export function isReasonable(definition: ToolDefinition): boolean {
  return definition.name !== '' && JSON.stringify(definition).length <= MAX_DEFINITION_BYTES;
}

/** The same text for the same definition, in whatever order a server writes its keys. */
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
