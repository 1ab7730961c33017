import type { ModelTool, ModelToolCall } from '../../models/models.api.js';
import type { ToolCallRecord } from '../../tools/tools.api.js';

/** What the model is told of a call that the caller would have to make, when its own results would be lost meanwhile. */
export const NOT_YET =
  'Not made yet: this tool is run by the caller, together with no other. Call it again, now that the other results are here.';

interface CallersTools {
  readonly callerTools?: readonly ModelTool[];
}

/** The gateway's tools and those of the caller, sorted by name; of two with one name the caller's. */
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

/** Calls by who runs their tools. */
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

/** A call that the caller has still to make, as the history keeps it. */
export function openRecord({ id, name, arguments: args }: ModelToolCall): ToolCallRecord {
  return { id, name, arguments: args, status: 'pending', output: '', durationMs: 0 };
}
