import type { ModelToolCall } from '../../model-provider.port.js';

type Parsed = Pick<ModelToolCall, 'arguments' | 'problem'>;

/** No real arguments are deeper, and code that walks through them could not handle more. */
const MAX_LEVELS = 64;

/** Arguments as a model wrote them. An empty text means none; anything but a JSON object is a `problem`. */
export function parseToolArguments(text: string): Parsed {
  if (text.trim() === '') return { arguments: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { arguments: {}, problem: 'The arguments are not valid JSON.' };
  }
  return isRecord(value)
    ? boundedArguments(value)
    : { arguments: {}, problem: 'The arguments are not a JSON object.' };
}

/** An object of at most 64 levels; a deeper one is a `problem`. */
export function boundedArguments(value: Record<string, unknown>): Parsed {
  if (isDeeper(value, MAX_LEVELS)) return { arguments: {}, problem: 'The arguments are nested too deeply.' };
  return { arguments: value };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
