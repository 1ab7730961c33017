import { JsonScanner } from '../../../http/body/json-scanner.js';
import type { ModelToolCall } from '../../models/models.api.js';
import { InvalidParameter } from '../openai.errors.js';

/**
 * How many values and keys the arguments of all calls of one request have; a body may have as many
 * (docs/specification/additions.md, Bodies).
 */
const MAX_SIZE = 60_000;

/**
 * Arguments are JSON inside a text, which the check of the body does not look into: here they are bounded before they
 * are parsed.
 */
export class CallArguments {
  private size = 0;

  /**
   * A call of the conversation so far. Throws `InvalidParameter` when its arguments are no JSON object, or too many.
   */
  read(id: string, name: string, args: string, path: string): ModelToolCall {
    const text = args === '' ? '{}' : args;
    const scanner = new JsonScanner(Buffer.from(text), 0);
    try {
      scanner.scan();
      this.count(scanner.size, path);
      return { id, name, arguments: JSON.parse(text) as Record<string, unknown> };
    } catch (error) {
      if (error instanceof InvalidParameter) throw error;
      throw new InvalidParameter({
        path,
        message: 'must be a JSON object as text, at most 32 levels deep and with at most 50,000 values',
      });
    }
  }

  private count(size: number, path: string): void {
    this.size += size;
    if (this.size <= MAX_SIZE) return;
    throw new InvalidParameter({
      path,
      message: `makes more than ${MAX_SIZE} values and keys in the arguments of all calls together`,
    });
  }
}
