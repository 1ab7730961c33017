import type { ModelToolCall } from '../../model-provider.port.js';

type Parsed = Pick<ModelToolCall, 'arguments' | 'problem'>;

/** Arguments as a model wrote them. No text at all means none; anything but a JSON object is a `problem`. */
export function parseToolArguments(text: string): Parsed {
  if (text.trim() === '') return { arguments: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { arguments: {}, problem: 'The arguments are not valid JSON.' };
  }
  return isRecord(value)
    ? { arguments: value }
    : { arguments: {}, problem: 'The arguments are not a JSON object.' };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
