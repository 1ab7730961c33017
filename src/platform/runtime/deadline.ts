import { EventEmitter } from 'node:events';
import { OutboundFailed } from '../outbound/outbound.errors.js';

/**
 * A time limit and a caller's abort in one, for one call; leaves nothing behind once cleared. An emitter, because the
 * client takes one as a signal and an `AbortController` costs as much as the rest of the call.
 */
export class Deadline extends EventEmitter {
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.end(new OutboundFailed('aborted'));
  aborted = false;
  /** Why, once it has come. */
  reason: OutboundFailed | undefined;

  constructor(
    timeoutMs: number,
    private readonly outer: AbortSignal | undefined,
  ) {
    super();
    this.timer = setTimeout(() => this.end(new OutboundFailed('timeout')), timeoutMs);
    outer?.addEventListener('abort', this.onAbort);
    if (outer?.aborted === true) this.onAbort();
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.onAbort);
  }

  private end(reason: OutboundFailed): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.emit('abort');
  }
}
