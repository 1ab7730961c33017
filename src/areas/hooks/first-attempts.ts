import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Outcome } from './delivery.js';
import { DeliverySender } from './delivery-sender.js';
import { HookStore } from './hook.store.js';
import { Lane } from './lane.js';
import { LaneStore } from './lane.store.js';
import { OutcomeRecorder } from './outcome-recorder.js';

/** A hook that another replica ended is noticed within this time plus the deliverer's wait between passes. */
const CHECK_MS = 400;
const RENEW_MS = 500;
/** When to try again to renew leases whose lanes another statement had locked. */
const RENEW_RETRY_MS = 100;
/** Lanes claimed at once: many, because finding them costs more than claiming them. */
const MAX_LANES_AT_ONCE = 256;
/** Deliveries claimed at once: the most for all lanes together, the most for one, and the least for one however many there are. */
const MAX_CLAIMED = 3200;
const MAX_FOR_ONE = 500;
const MIN_FOR_ONE = 8;

/** The result of a pass. */
export interface FirstAttemptsPass {
  readonly foundAny: boolean;
  /** Whether lanes were passed over because another statement had locked them. */
  readonly passedOver: boolean;
  /** Milliseconds until a lane of another replica with something to send is free unless it is renewed; null without one. */
  readonly freeInMs: number | null;
}

/** Makes the first attempts: in order for each hook, and for all hooks in parallel. */
@Injectable()
export class FirstAttempts {
  private readonly logger: Logger;
  private readonly lanes = new Map<string, Lane>();
  private renewedAt = 0;
  private checkedAt = 0;
  /** Whether what remains is left to other replicas. */
  private isFinishing = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly store: LaneStore,
    private readonly hooks: HookStore,
    private readonly sender: DeliverySender,
    private readonly recorder: OutcomeRecorder,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /** Calls this whenever there may be more to do. */
  onMore(wake: () => void): void {
    this.wake = wake;
  }

  /** Claims deliveries and starts to send them. @param includeOthers whether to find out when other replicas' lanes are free */
  async pass(includeOthers = false): Promise<FirstAttemptsPass> {
    if (performance.now() - this.renewedAt > RENEW_MS) await this.renew();
    if (performance.now() - this.checkedAt > CHECK_MS) await this.dropInactive();
    const freeInMs = await this.claimLanes(includeOthers);
    const lanes = [...this.lanes.values()];
    const fed = await this.refill(lanes.filter(({ wantsMore }) => wantsMore));
    for (const lane of lanes) this.start(lane);
    await this.releaseIdle();
    return { ...fed, freeInMs };
  }

  /** Releases the lanes that have nothing in flight. */
  releaseIdle(): Promise<void> {
    return this.release([...this.lanes.values()].filter(({ isBusy }) => !isBusy));
  }

  /** The hook was deleted: nothing more is sent to it. */
  forget(hookId: string): void {
    this.lanes.get(hookId)?.drop();
  }

  /** Renews the leases in the next pass, which starts at once: the name of their owner has changed. */
  renewSoon(): void {
    this.renewedAt = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  /** Deliveries in flight may arrive; nothing else is sent. */
  finish(): void {
    this.isFinishing = true;
    for (const lane of this.lanes.values()) lane.finish();
  }

  /** Aborts deliveries in flight. */
  stop(): void {
    for (const lane of this.lanes.values()) lane.drop();
  }

  /** Releases all lanes. */
  releaseAll(): Promise<void> {
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
      // Its lease ran out and another replica may have held it since: it starts over when its outcomes are stored.
      if (known === undefined) this.lanes.set(hookId, new Lane(hookId, failing, askedAt));
      else known.drop();
    }
    if (claimed.length === count) this.wake();
    return freeInMs;
  }

  private async refill(lanes: readonly Lane[]): Promise<Omit<FirstAttemptsPass, 'freeInMs'>> {
    if (lanes.length === 0) return { foundAny: false, passedOver: false };
    const most = batchFor(this.lanes.size);
    const { deliveries, seen } = await this.store.next(lanes, most);
    const looked = lanes.filter(({ hookId }) => seen.has(hookId));
    for (const lane of looked) lane.add(deliveries.get(lane.hookId) ?? [], most);
    return { foundAny: deliveries.size > 0, passedOver: looked.length < lanes.length };
  }

  /** Also restarts a lane that still has claimed deliveries and whose lease ran out and was renewed. */
  private start(lane: Lane): void {
    const { in_flight_per_hook: perHook } = this.settings.current.hooks;
    while (lane.sending < perHook && lane.length > 0 && lane.isHeld) void this.sendInOrder(lane);
  }

  /** Sends claimed deliveries one after the other until none is left. */
  private async sendInOrder(lane: Lane): Promise<void> {
    lane.sending += 1;
    try {
      for (let delivery = lane.next(); delivery !== undefined; delivery = lane.next()) {
        if (lane.wantsMore) this.wake();
        const outcome = await this.sender.attempt(delivery, lane.signal);
        if (outcome === undefined) lane.drop();
        else this.record(outcome, lane);
      }
    } catch (error) {
      this.logger.warn('sending to a webhook is paused', { hook_id: lane.hookId, error: String(error) });
      lane.drop();
    }
    lane.sending -= 1;
    if (!lane.isBusy) this.wake();
  }

  private record(outcome: Outcome, lane: Lane): void {
    lane.unwritten += 1;
    void this.recorder.record(outcome).then(() => {
      lane.unwritten -= 1;
      if (!lane.isBusy || (lane.sending === 0 && lane.wantsMore)) this.wake();
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

  /** Drops what is claimed for hooks that were ended meanwhile, on any replica, and aborts what is in flight. */
  private async dropInactive(): Promise<void> {
    this.checkedAt = performance.now();
    const busy = [...this.lanes.values()].filter((lane) => lane.isBusy || lane.length > 0);
    if (busy.length === 0) return;
    const active = await this.hooks.activeAmong(busy.map(({ hookId }) => hookId));
    for (const lane of busy) if (!active.has(lane.hookId)) lane.drop();
  }

  /** If this fails, the replica holds lanes without knowing it, and claims them again when there is something to send. */
  private async release(lanes: readonly Lane[]): Promise<void> {
    if (lanes.length === 0) return;
    for (const { hookId } of lanes) this.lanes.delete(hookId);
    const hookIds = lanes.map(({ hookId }) => hookId);
    if (await this.store.release(hookIds, this.isFinishing)) this.wake();
  }
}

function batchFor(lanes: number): number {
  return Math.max(MIN_FOR_ONE, Math.min(MAX_FOR_ONE, Math.floor(MAX_CLAIMED / lanes)));
}
