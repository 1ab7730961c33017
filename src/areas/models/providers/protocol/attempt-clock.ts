import { ProviderTimedOut } from '../../../../common/errors/gateway-error.js';
import type { ModelCallOptions, ModelUsage } from '../../model-provider.port.js';

/** How long a stream may linger once its answer is complete, in milliseconds; the answer is taken either way. */
const CLOSING_GRACE_MS = 3000;

type Phase = 'opening' | 'flowing' | 'closing';

/**
 * Owns the abort signal and the two clocks of one attempt. A clock runs only while the provider is waited for, never
 * while the consumer is busy.
 */
export class AttemptClock {
  /** A part of the answer has arrived, even if it is only the beginning of a tool call that nobody is shown yet. */
  hasBegun = false;
  private readonly controller = new AbortController();
  private readonly onAbort = () => this.controller.abort(this.options.signal.reason);
  private timer: NodeJS.Timeout | undefined;
  private phase: Phase = 'opening';

  constructor(
    private readonly provider: string,
    private readonly options: ModelCallOptions,
  ) {
    if (options.signal.aborted) this.onAbort();
    options.signal.addEventListener('abort', this.onAbort, { once: true });
    this.waiting();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The provider is being waited for: the clock of this phase continues, or starts. */
  waiting(): void {
    this.timer ??= setTimeout(() => this.expire(), this.limitMs());
  }

  /** A piece of the answer has arrived: no other attempt may follow. */
  begun(): void {
    if (!this.hasBegun) this.options.onBegun?.();
    this.hasBegun = true;
  }

  /** What the provider has counted until now. */
  counted(usage: ModelUsage): void {
    this.options.onCounted?.(usage);
  }

  /** An event arrived. */
  arrived(): void {
    if (this.phase === 'opening') {
      this.phase = 'flowing';
      this.options.onHeard?.();
    }
    this.rest();
  }

  /** A sign of life that is no event, such as a keep-alive comment: it counts once the stream has begun. */
  alive(): void {
    if (this.phase === 'flowing') this.rest();
  }

  /** The answer is complete; only the end of the connection is missing. */
  closing(): void {
    this.phase = 'closing';
    this.rest();
  }

  /** Waits for another answer, as a part of this attempt. */
  reopening(): void {
    this.phase = 'opening';
    this.rest();
  }

  /** Nobody waits any more. */
  end(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Nothing is being waited for. */
  rest(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Leaves neither timer nor listener behind. */
  release(): void {
    this.rest();
    this.options.signal.removeEventListener('abort', this.onAbort);
  }

  private limitMs(): number {
    if (this.phase === 'opening') return this.options.firstByteTimeoutMs;
    if (this.phase === 'flowing') return this.options.idleTimeoutMs;
    return Math.min(CLOSING_GRACE_MS, this.options.idleTimeoutMs);
  }

  private expire(): void {
    this.controller.abort(this.phase === 'opening' ? this.tooSlowToStart() : this.tooLongSilent());
  }

  private tooSlowToStart(): ProviderTimedOut {
    const seconds = this.options.firstByteTimeoutMs / 1000;
    return new ProviderTimedOut(
      `The model provider ${this.provider} did not begin to answer within ${seconds} s (agent.first_byte_timeout_ms).`,
      { details: { reason: 'provider_first_byte_timeout' } },
    );
  }

  private tooLongSilent(): ProviderTimedOut {
    const seconds = this.options.idleTimeoutMs / 1000;
    return new ProviderTimedOut(
      `The model provider ${this.provider} fell silent for ${seconds} s within its answer (agent.idle_timeout_ms).`,
      { details: { reason: 'provider_idle_timeout' } },
    );
  }
}
