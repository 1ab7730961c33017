import { OutboundFailed } from './outbound.errors.js';

/** A time limit and a caller's abort as one signal, which leaves nothing behind once cleared. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.end(new OutboundFailed('aborted'));
  /** Why the signal was given, if it was. */
  failure: OutboundFailed | undefined;

  constructor(
    timeoutMs: number,
    private readonly outer: AbortSignal | undefined,
  ) {
    this.timer = setTimeout(() => this.end(new OutboundFailed('timeout')), timeoutMs);
    outer?.addEventListener('abort', this.onAbort, { once: true });
    if (outer?.aborted === true) this.onAbort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.onAbort);
  }

  private end(failure: OutboundFailed): void {
    this.failure ??= failure;
    this.controller.abort(failure);
  }
}
