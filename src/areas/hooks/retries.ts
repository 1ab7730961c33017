import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import { byHook, type Delivery, type DeliveryStatus } from './delivery.js';
import { DeliverySender } from './delivery-sender.js';
import { HookStore } from './hook.store.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { RetryStore } from './retry.store.js';

/** Retries to one hook at once, so that a receiver that comes back is not flooded. */
const MAX_PER_HOOK = 4;
const MAX_AT_ONCE = 256;
/** A hook that another replica ended is noticed within this time plus the deliverer's poll. */
const CHECK_MS = 400;
/** Time after the attempt's own limit for storing its outcome. */
const CLAIM_MARGIN_SECS = 45;

interface RunningRetries {
  readonly abort: AbortController;
  readonly failing: boolean;
}

/**
 * Makes retries when they are due, a few at a time for each hook. A receiver that takes all of them gets the next at once:
 * what an outage left is sent as fast as it is taken. To one that still fails they go no faster than the poll.
 */
@Injectable()
export class Retries {
  private wake: () => void = () => undefined;
  private readonly logger: Logger;
  private readonly running = new Map<string, RunningRetries>();
  private checkedAt = 0;

  constructor(
    private readonly store: RetryStore,
    private readonly hooks: HookStore,
    private readonly sender: DeliverySender,
    private readonly recorder: OutcomeRecorder,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /** Calls this whenever retries may be due. */
  onMore(wake: () => void): void {
    this.wake = wake;
  }

  /** Starts due retries. Dead receivers occupy slots for long, so they never get more than half of them. */
  async pass(): Promise<void> {
    const slots = Math.floor(this.settings.current.hooks.max_in_flight / 2);
    await this.claim(false, slots - this.countWhere(() => true));
    const free = slots - this.countWhere(() => true);
    await this.claim(true, Math.min(free, Math.floor(slots / 2) - this.countWhere(({ failing }) => failing)));
  }

  forget(hookId: string): void {
    this.running.get(hookId)?.abort.abort();
  }

  stop(): void {
    for (const { abort } of this.running.values()) abort.abort();
  }

  get isIdle(): boolean {
    return this.running.size === 0;
  }

  /** Aborts retries to hooks that were ended meanwhile, on any replica. */
  async dropInactive(): Promise<void> {
    if (this.running.size === 0 || performance.now() - this.checkedAt < CHECK_MS) return;
    this.checkedAt = performance.now();
    const active = await this.hooks.activeAmong([...this.running.keys()]);
    for (const [hookId, { abort }] of this.running) if (!active.has(hookId)) abort.abort();
  }

  private countWhere(which: (retries: RunningRetries) => boolean): number {
    return [...this.running.values()].filter(which).length * MAX_PER_HOOK;
  }

  private async claim(failing: boolean, slots: number): Promise<void> {
    if (slots <= 0) return;
    const due = await this.store.claim({
      most: Math.min(slots, MAX_AT_ONCE),
      maxPerHook: MAX_PER_HOOK,
      except: [...this.running.keys()],
      claimSecs: this.settings.current.hooks.timeout_ms / 1000 + CLAIM_MARGIN_SECS,
      failing,
    });
    for (const [hookId, deliveries] of byHook(due)) this.start(hookId, deliveries, failing);
  }

  private start(hookId: string, deliveries: readonly Delivery[], failing: boolean): void {
    const abort = new AbortController();
    this.running.set(hookId, { abort, failing });
    void this.sendAll(deliveries, abort.signal)
      .catch((error: unknown) => {
        this.logger.warn('retries to a webhook are paused', { hook_id: hookId, error: String(error) });
        return false;
      })
      .then((areTaken) => {
        this.running.delete(hookId);
        if (areTaken && deliveries.length === MAX_PER_HOOK) this.wake();
      });
  }

  /** @returns whether the receiver took every one of them */
  private async sendAll(deliveries: readonly Delivery[], signal: AbortSignal): Promise<boolean> {
    const sent = await Promise.all(deliveries.map((delivery) => this.send(delivery, signal)));
    return sent.every((status) => status === 'delivered');
  }

  private async send(delivery: Delivery, signal: AbortSignal): Promise<DeliveryStatus | undefined> {
    const outcome = await this.sender.attempt(delivery, signal);
    if (outcome !== undefined) await this.recorder.record(outcome);
    return outcome?.status;
  }
}
