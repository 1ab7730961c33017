import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Bell } from '../events/bell.js';
import { type Logger, Logs } from '../logs/logger.js';
import { DeliverySender } from './delivery-sender.js';
import { Lane } from './lane.js';
import { LaneStore } from './lane.store.js';
import type { Outcome } from './outcome.js';
import { OutcomeRecorder } from './outcome-recorder.js';

const RENEW_MS = 3000;
/** Lanes taken in one go; many at once, because finding them costs more than taking them. */
const MOST_LANES_AT_ONCE = 256;
/** Deliveries claimed in one go, for all lanes together; for one lane; and for one lane however many there are. */
const MOST_CLAIMED = 3200;
const MOST_FOR_ONE = 500;
const LEAST_FOR_ONE = 8;

/** Makes the first attempts: hook by hook in order, all hooks beside each other. */
@Injectable()
export class FirstAttempts {
  private readonly logger: Logger;
  private readonly lanes = new Map<string, Lane>();
  private renewedAt = 0;
  /** Rings when there may be more to do. */
  readonly bell = new Bell();

  constructor(
    private readonly store: LaneStore,
    private readonly sender: DeliverySender,
    private readonly recorder: OutcomeRecorder,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /** Takes what is there and starts it. @returns whether there was anything */
  async round(): Promise<boolean> {
    if (performance.now() - this.renewedAt > RENEW_MS) await this.renew();
    await this.take();
    const lanes = [...this.lanes.values()];
    const hungry = lanes.filter(({ wantsMore }) => wantsMore);
    const found = await this.feed(hungry);
    for (const lane of lanes) this.start(lane);
    await this.release(lanes.filter(({ isBusy }) => !isBusy));
    return found;
  }

  /** The hook is gone: nothing of it leaves any more. */
  forget(hookId: string): void {
    this.lanes.get(hookId)?.drop();
  }

  /** What is on its way may arrive; nothing else is sent. */
  finish(): void {
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

  get isIdle(): boolean {
    return [...this.lanes.values()].every(({ isBusy }) => !isBusy);
  }

  private async take(): Promise<void> {
    const { max_in_flight: most, in_flight_per_hook: perHook } = this.settings.current.hooks;
    const places = Math.floor(most / perHook) - this.lanes.size;
    if (places <= 0) return;
    const failing = [...this.lanes.values()].filter((lane) => lane.failing).length;
    const askedAt = performance.now();
    const wanted = Math.min(places, MOST_LANES_AT_ONCE);
    const taken = await this.store.take(wanted, failing * perHook < most / 2);
    for (const { hookId, failing } of taken) {
      const known = this.lanes.get(hookId);
      // Its right ran out, and others may have had it since: it is begun anew when its outcomes are written down.
      if (known === undefined) this.lanes.set(hookId, new Lane(hookId, failing, askedAt));
      else known.drop();
    }
    if (taken.length === wanted) this.bell.ring();
  }

  private async feed(lanes: readonly Lane[]): Promise<boolean> {
    if (lanes.length === 0) return false;
    const most = batchFor(this.lanes.size);
    const next = await this.store.next(lanes, most);
    for (const lane of lanes) lane.add(next.get(lane.hookId) ?? [], most);
    return next.size > 0;
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
        if (lane.wantsMore) this.bell.ring();
        const outcome = await this.sender.attempt(delivery, lane.signal);
        if (outcome === undefined) lane.drop();
        else this.record(outcome, lane);
      }
    } catch (error) {
      this.logger.warn('a webhook is left for now', { hook_id: lane.hookId, error: String(error) });
      lane.drop();
    }
    lane.sending -= 1;
    if (!lane.isBusy) this.bell.ring();
  }

  private record(outcome: Outcome, lane: Lane): void {
    lane.unwritten += 1;
    void this.recorder.record(outcome).then(() => {
      lane.unwritten -= 1;
      if (!lane.isBusy || (lane.sending === 0 && lane.wantsMore)) this.bell.ring();
    });
    if (outcome.gone) lane.drop();
  }

  private async renew(): Promise<void> {
    const askedAt = performance.now();
    const held = this.lanes.size === 0 ? new Set() : await this.store.renew([...this.lanes.keys()]);
    this.renewedAt = askedAt;
    for (const lane of this.lanes.values()) {
      if (held.has(lane.hookId)) lane.renewed(askedAt);
      else lane.drop();
    }
  }

  private async release(lanes: readonly Lane[]): Promise<void> {
    if (lanes.length === 0) return;
    for (const { hookId } of lanes) this.lanes.delete(hookId);
    if (await this.store.release(lanes.map(({ hookId }) => hookId))) this.bell.ring();
  }
}

function batchFor(lanes: number): number {
  return Math.max(LEAST_FOR_ONE, Math.min(MOST_FOR_ONE, Math.floor(MOST_CLAIMED / lanes)));
}
