import type { ModelUsage } from '../../model-provider.port.js';
import { WireFault } from './wire-fault.js';

/** The most text of one answer, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
/** The most arguments of all tool calls of one answer, in bytes of UTF-8. */
const MAX_ARGUMENT_BYTES = 1024 * 1024;
/** The most tool calls of one answer. */
const MAX_CALLS = 256;

/** Bounds the answer of one model call; throws a `too_large` fault at the piece that passes a bound. */
export class AnswerMeter {
  private textBytes = 0;
  private argumentBytes = 0;
  private calls = 0;

  /** Text, and thoughts, which are stored as long as the text. */
  text(piece: string): void {
    this.textBytes += Buffer.byteLength(piece);
    if (this.textBytes > MAX_TEXT_BYTES) throw tooLarge('text');
  }

  arguments(piece: string): void {
    this.argumentBytes += Buffer.byteLength(piece);
    if (this.argumentBytes > MAX_ARGUMENT_BYTES) throw tooLarge('tool call arguments');
  }

  call(): void {
    this.calls += 1;
    if (this.calls > MAX_CALLS) throw tooLarge('tool calls');
  }
}

const tooLarge = (what: string) => new WireFault({ kind: 'too_large', what });

/** A count that a provider gave; 0 when it is missing or no number. */
export function tokenCount(value: number | null | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Counts that a provider gave; a part without any tokens stays absent. */
export function countedUsage(counts: Required<Omit<ModelUsage, 'estimated'>>): ModelUsage {
  const { input, output, cachedInput, cacheWrite, reasoning } = counts;
  return {
    input,
    output,
    ...(cachedInput > 0 && { cachedInput }),
    ...(cacheWrite > 0 && { cacheWrite }),
    ...(reasoning > 0 && { reasoning }),
  };
}
