import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { type Logger, Logs } from '../logs/logger.js';
import { byHook, type Delivery } from './delivery.js';
import { DeliverySender } from './delivery-sender.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { RetryStore } from './retry.store.js';

/** Retries to one hook at once: a receiver that comes back is not run over. */
const MOST_PER_HOOK = 4;
const MOST_AT_ONCE = 256;
/** Time beyond the attempt's own in which its outcome is written. */
const CLAIM_MARGIN_SECS = 45;

/** Makes the attempts after the first, when they are due, a few at a time for each hook. */
@Injectable()
export class Retries {
  private readonly logger: Logger;
  private readonly running = new Map<string, AbortController>();

  constructor(
    private readonly store: RetryStore,
    private readonly sender: DeliverySender,
    private readonly recorder: OutcomeRecorder,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /** Takes what is due and starts it. */
  async round(): Promise<void> {
    const { max_in_flight: most, timeout_ms: timeoutMs } = this.settings.current.hooks;
    const places = Math.floor(most / 2) - this.running.size * MOST_PER_HOOK;
    if (places <= 0) return;
    const due = await this.store.claim({
      most: Math.min(places, MOST_AT_ONCE),
      mostPerHook: MOST_PER_HOOK,
      except: [...this.running.keys()],
      claimSecs: timeoutMs / 1000 + CLAIM_MARGIN_SECS,
    });
    for (const [hookId, deliveries] of byHook(due)) this.start(hookId, deliveries);
  }

  forget(hookId: string): void {
    this.running.get(hookId)?.abort();
  }

  stop(): void {
    for (const abort of this.running.values()) abort.abort();
  }

  get isIdle(): boolean {
    return this.running.size === 0;
  }

  private start(hookId: string, deliveries: readonly Delivery[]): void {
    const abort = new AbortController();
    this.running.set(hookId, abort);
    void Promise.all(deliveries.map((delivery) => this.send(delivery, abort.signal)))
      .catch((error: unknown) => {
        this.logger.warn('retries are left for now', { hook_id: hookId, error: String(error) });
      })
      .finally(() => this.running.delete(hookId));
  }

  private async send(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const outcome = await this.sender.attempt(delivery, signal);
    if (outcome !== undefined) await this.recorder.record(outcome);
  }
}
