import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { WakeSignal } from '../../platform/runtime/wake-signal.js';
import { Settings } from '../../platform/settings/settings.js';
import { ActiveHooks } from './active-hooks.store.js';
import { DeliverySender } from './delivery-sender.js';
import { Lane } from './lane.js';
import { LaneStore } from './lane.store.js';
import type { Outcome } from './outcome.js';
import { OutcomeRecorder } from './outcome-recorder.js';

/** How long at most a hook is still sent to that was ended elsewhere: this, and the deliverer's poll of a second. */
const CHECK_MS = 400;
const RENEW_MS = 500;
/** Leases that could not be renewed, because another statement had their lanes, are tried again this soon. */
const RENEW_RETRY_MS = 100;
/** Lanes taken in one go; many at once, because finding them costs more than taking them. */
const MAX_LANES_AT_ONCE = 256;
/** Deliveries claimed in one go, for all lanes together; for one lane; and for one lane however many there are. */
const MAX_CLAIMED = 3200;
const MAX_FOR_ONE = 500;
const MIN_FOR_ONE = 8;

/** What a round came to. */
export interface FirstAttemptsRound {
  readonly foundAny: boolean;
  /** Lanes were passed over because another statement had locked them. */
  readonly passedOver: boolean;
  /** When a lane of another replica with something to send is free unless it is renewed; null without any. */
  readonly freeInMs: number | null;
}

/** Makes the first attempts: hook by hook in order, all hooks beside each other. */
@Injectable()
export class FirstAttempts {
  private readonly logger: Logger;
  private readonly lanes = new Map<string, Lane>();
  private renewedAt = 0;
  private checkedAt = 0;
  /** What is left is left to others. */
  private isFinishing = false;
  /** Rings when there may be more to do. */
  readonly wakeSignal = new WakeSignal();

  constructor(
    private readonly store: LaneStore,
    private readonly activeHooks: ActiveHooks,
    private readonly sender: DeliverySender,
    private readonly recorder: OutcomeRecorder,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /** Takes what is there and starts it. @param includeOthers whether to find out when lanes of other replicas are free */
  async round(includeOthers = false): Promise<FirstAttemptsRound> {
    if (performance.now() - this.renewedAt > RENEW_MS) await this.renew();
    if (performance.now() - this.checkedAt > CHECK_MS) await this.dropInactive();
    const freeInMs = await this.claimLanes(includeOthers);
    const lanes = [...this.lanes.values()];
    const fed = await this.refill(lanes.filter(({ wantsMore }) => wantsMore));
    for (const lane of lanes) this.start(lane);
    await this.leaveIdle();
    return { ...fed, freeInMs };
  }

  /** Leaves lanes that have nothing on its way to others. */
  leaveIdle(): Promise<void> {
    return this.release([...this.lanes.values()].filter(({ isBusy }) => !isBusy));
  }

  /** The hook is gone: nothing of it leaves any more. */
  forget(hookId: string): void {
    this.lanes.get(hookId)?.drop();
  }

  /** Leases are renewed with the next round, which comes at once: the name of their owner has changed. */
  renewSoon(): void {
    this.renewedAt = Number.NEGATIVE_INFINITY;
    this.wakeSignal.notify();
  }

  /** What is on its way may arrive; nothing else is sent. */
  finish(): void {
    this.isFinishing = true;
    for (const lane of this.lanes.values()) lane.finish();
  }

  /** Breaks off what is on its way. */
  stop(): void {
    for (const lane of this.lanes.values()) lane.drop();
  }

  /** Leaves all lanes to others. */
  leave(): Promise<void> {
    return this.release([...this.lanes.values()]);
  }

  /** Whether there are leases to renew. */
  get holdsLanes(): boolean {
    return this.lanes.size > 0;
  }

  get isIdle(): boolean {
    return [...this.lanes.values()].every(({ isBusy }) => !isBusy);
  }

  private async claimLanes(includeOthers: boolean): Promise<number | null> {
    const { max_in_flight: most, in_flight_per_hook: perHook } = this.settings.current.hooks;
    const freeSlots = Math.floor(most / perHook) - this.lanes.size;
    if (freeSlots <= 0) return null;
    const failing = [...this.lanes.values()].filter((lane) => lane.failing).length;
    const askedAt = performance.now();
    const count = Math.min(freeSlots, MAX_LANES_AT_ONCE);
    const { claimed, freeInMs } = await this.store.claim({
      most: count,
      alsoFailing: failing * perHook < most / 2,
      known: [...this.lanes.keys()],
      includeOthers,
    });
    for (const { hookId, failing } of claimed) {
      const known = this.lanes.get(hookId);
      // Its right ran out, and others may have had it since: it is begun anew when its outcomes are written down.
      if (known === undefined) this.lanes.set(hookId, new Lane(hookId, failing, askedAt));
      else known.drop();
    }
    if (claimed.length === count) this.wakeSignal.notify();
    return freeInMs;
  }

  private async refill(lanes: readonly Lane[]): Promise<Omit<FirstAttemptsRound, 'freeInMs'>> {
    if (lanes.length === 0) return { foundAny: false, passedOver: false };
    const most = batchFor(this.lanes.size);
    const { deliveries, seen } = await this.store.next(lanes, most);
    const looked = lanes.filter(({ hookId }) => seen.has(hookId));
    for (const lane of looked) lane.add(deliveries.get(lane.hookId) ?? [], most);
    return { foundAny: deliveries.size > 0, passedOver: looked.length < lanes.length };
  }

  /** Also a lane whose right had run out, with claims in hand, and was renewed. */
  private start(lane: Lane): void {
    const { in_flight_per_hook: perHook } = this.settings.current.hooks;
    while (lane.sending < perHook && lane.length > 0 && lane.isHeld) void this.sendLine(lane);
  }

  /** Sends what is claimed, one after the other, as long as there is something. */
  private async sendLine(lane: Lane): Promise<void> {
    lane.sending += 1;
    try {
      for (let delivery = lane.next(); delivery !== undefined; delivery = lane.next()) {
        if (lane.wantsMore) this.wakeSignal.notify();
        const outcome = await this.sender.attempt(delivery, lane.signal);
        if (outcome === undefined) lane.drop();
        else this.record(outcome, lane);
      }
    } catch (error) {
      this.logger.warn('a webhook is paused for now', { hook_id: lane.hookId, error: String(error) });
      lane.drop();
    }
    lane.sending -= 1;
    if (!lane.isBusy) this.wakeSignal.notify();
  }

  private record(outcome: Outcome, lane: Lane): void {
    lane.unwritten += 1;
    void this.recorder.record(outcome).then(() => {
      lane.unwritten -= 1;
      if (!lane.isBusy || (lane.sending === 0 && lane.wantsMore)) this.wakeSignal.notify();
    });
    if (outcome.gone) lane.drop();
  }

  private async renew(): Promise<void> {
    const askedAt = performance.now();
    this.renewedAt = askedAt;
    if (this.lanes.size === 0) return;
    const { renewed, locked } = await this.store.renew([...this.lanes.keys()]);
    if (locked.size > 0) this.renewedAt = askedAt - RENEW_MS + RENEW_RETRY_MS;
    for (const lane of this.lanes.values()) {
      if (renewed.has(lane.hookId)) lane.renewed(askedAt);
      else if (!locked.has(lane.hookId)) lane.drop();
    }
  }

  /** What was claimed of a hook is not sent, and what is on its way is broken off, once it was ended on whatever replica. */
  private async dropInactive(): Promise<void> {
    this.checkedAt = performance.now();
    const busy = [...this.lanes.values()].filter((lane) => lane.isBusy || lane.length > 0);
    if (busy.length === 0) return;
    const active = await this.activeHooks.among(busy.map(({ hookId }) => hookId));
    for (const lane of busy) if (!active.has(lane.hookId)) lane.drop();
  }

  /** When it fails, the lanes are this replica's and unknown to it: it takes them anew when there is something to send. */
  private async release(lanes: readonly Lane[]): Promise<void> {
    if (lanes.length === 0) return;
    for (const { hookId } of lanes) this.lanes.delete(hookId);
    const hookIds = lanes.map(({ hookId }) => hookId);
    if (await this.store.release(hookIds, this.isFinishing)) this.wakeSignal.notify();
  }
}

function batchFor(lanes: number): number {
  return Math.max(MIN_FOR_ONE, Math.min(MAX_FOR_ONE, Math.floor(MAX_CLAIMED / lanes)));
}
