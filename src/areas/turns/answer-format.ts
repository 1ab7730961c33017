import type { ArgumentCheck } from '../tools/tools.api.js';

/** More levels than any answer has, and fewer than whoever goes through it could not take. */
const MAX_LEVELS = 100;

/** What is wrong with an answer that has to be JSON of a schema; undefined when it fits. Throws the reason of an aborted signal. */
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
