import type { ModelMessage, ModelToolCall, ModelToolResult, ModelUsage } from '../../models/models.api.js';
import type { ArgumentCheck, ToolCallRecord } from '../../tools/tools.api.js';
import { NOT_YET, openRecord } from '../callers/caller-tools.js';
import type { TurnOutcome } from '../turn.js';
import type { DoneWork, RoundCall } from './done-steps.js';
import type { ModelRound } from './model-calls.js';
import type { AskedStep } from './turn-steps.store.js';

export function answered(
  { model, finishReason }: ModelRound,
  { content, records, usage }: { content: string; records: readonly ToolCallRecord[]; usage: ModelUsage },
): TurnOutcome {
  return { content, toolCalls: records, usage, model, finishReason };
}

/** A turn that ends with calls for its caller to make. */
export function ended(
  { model }: Pick<ModelRound, 'model'>,
  so: Pick<DoneWork, 'texts' | 'records' | 'usage'> & { readonly open: readonly ModelToolCall[] },
): TurnOutcome {
  return {
    content: so.texts.join('\n\n'),
    toolCalls: [...so.records, ...so.open.map(openRecord)],
    usage: so.usage,
    model,
    finishReason: 'tool_calls',
    openCalls: so.open,
  };
}

export function notYet({ id }: ModelToolCall): { readonly result: ModelToolResult } {
  return { result: { callId: id, content: NOT_YET, isError: true } };
}

export function repairing(text: string, problem: string): ModelMessage[] {
  const ask = `This answer does not fit the format that was asked for: ${problem}. Answer again, with the JSON alone.`;
  return [
    { role: 'assistant', text: text.trim() === '' ? '(nothing)' : text, toolCalls: [] },
    { role: 'user', parts: [{ type: 'text', text: ask }] },
  ];
}

/** Which calls may wait for a person, so that it is known later whether those were made. */
export function heldOf(calls: readonly RoundCall[]): { held?: readonly string[] } {
  const held = calls.filter(({ isHeld }) => isHeld).map(({ call }) => call.id);
  return held.length === 0 ? {} : { held };
}

/** What is stored of a round before its tools run. */
export function asked({
  text,
  calls,
  model,
  providerState,
}: ModelRound): Pick<AskedStep, 'text' | 'calls' | 'model' | 'providerState'> {
  return { text, calls, model, ...(providerState === undefined ? {} : { providerState }) };
}

/** Deeper than any real answer, and shallow enough for code that walks through it. */
const MAX_LEVELS = 100;

/**
 * What is wrong with an answer that has to be JSON of a schema; undefined when it fits. Throws the reason of an aborted
 * signal.
 */
export async function formatProblem(
  text: string,
  schema: ArgumentCheck,
  signal: AbortSignal,
): Promise<string | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (isDeeper(value, MAX_LEVELS)) return `it is nested more than ${MAX_LEVELS} levels deep`;
  return schema.problem(value, signal);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
