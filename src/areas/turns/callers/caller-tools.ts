import type { ModelTool, ModelToolCall } from '../../models/models.api.js';
import type { ToolCallRecord } from '../../tools/tools.api.js';

/**
 * What the model is told about a call to a caller's tool that has to wait, because the results of the gateway's own
 * tools would be lost otherwise.
 */
export const NOT_YET =
  'Not made yet: this tool is run by the caller, together with no other. Call it again, now that the other results are here.';

interface CallersTools {
  readonly callerTools?: readonly ModelTool[];
}

/** The gateway's tools and the caller's, sorted by name; when two share a name, the caller's is used. */
export function offeredTools(
  own: readonly ModelTool[],
  { callerTools = [] }: CallersTools = {},
): readonly ModelTool[] {
  if (callerTools.length === 0) return own;
  const names = new Set(callerTools.map(({ name }) => name));
  return [...own.filter(({ name }) => !names.has(name)), ...callerTools].sort((one, other) =>
    one.name < other.name ? -1 : 1,
  );
}

/** Calls, divided by who runs their tools. */
export function divided<Call extends { readonly call: ModelToolCall }>(
  calls: readonly Call[],
  { callerTools = [] }: CallersTools,
): { readonly own: readonly Call[]; readonly callers: readonly ModelToolCall[] } {
  const names = new Set(callerTools.map(({ name }) => name));
  return {
    own: calls.filter(({ call }) => !names.has(call.name)),
    callers: calls.flatMap(({ call }) => (names.has(call.name) ? [call] : [])),
  };
}

/** A call that the caller still has to make, as the history stores it. */
export function openRecord({ id, name, arguments: args }: ModelToolCall): ToolCallRecord {
  return { id, name, arguments: args, status: 'pending', output: '', durationMs: 0 };
}
