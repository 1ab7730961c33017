import type { Delivery } from './delivery.js';
import { LANE_LEASE_SECS } from './lane.store.js';

/** A lane is left this long before its lease ends, so that its next owner does not send beside us. */
const MARGIN_MS = 1000;
/** What comes next is asked for when so much of a claim is left, so that nobody waits for it. */
const LOW = 0.5;
/** A lane with so many outcomes that are not written down gets no more before they are. */
const MOST_UNWRITTEN = 500;

/** The right of this process to make the first attempts of one hook, and what it has claimed of them. */
export class Lane {
  private readonly abort = new AbortController();
  private readonly claimed: Delivery[] = [];
  private heldUntil = 0;
  private lowMark = 0;
  private lastSequence = 0;
  /** Whether the last claim brought all there was. */
  private isDry = false;
  /** Deliveries on their way, and outcomes that are not written down. */
  sending = 0;
  unwritten = 0;

  /** @param askedAt when the lease was asked for, on the clock of `performance` */
  constructor(
    readonly hookId: string,
    readonly failing: boolean,
    askedAt: number,
  ) {
    this.renewed(askedAt);
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  get isHeld(): boolean {
    return !this.abort.signal.aborted && performance.now() < this.heldUntil;
  }

  get isBusy(): boolean {
    return this.sending > 0 || this.unwritten > 0;
  }

  /** How many deliveries wait here. */
  get length(): number {
    return this.claimed.length;
  }

  private get isLow(): boolean {
    return this.claimed.length <= this.lowMark;
  }

  get wantsMore(): boolean {
    if (!this.isHeld) return false;
    return !this.isBusy || (this.isLow && !this.isDry && this.unwritten < MOST_UNWRITTEN);
  }

  /** Deliveries after this number are not here yet. */
  get after(): number {
    return this.isBusy ? this.lastSequence : 0;
  }

  /** @param most how many were asked for */
  add(deliveries: readonly Delivery[], most: number): void {
    this.claimed.push(...deliveries);
    this.isDry = deliveries.length < most;
    this.lowMark = Math.floor(deliveries.length * LOW);
    this.lastSequence = deliveries.at(-1)?.sequence ?? this.lastSequence;
  }

  /** The next one to send; undefined when there is none, or no right to it. */
  next(): Delivery | undefined {
    return this.isHeld ? this.claimed.shift() : undefined;
  }

  renewed(askedAt: number): void {
    this.heldUntil = askedAt + LANE_LEASE_SECS * 1000 - MARGIN_MS;
  }

  /** Breaks off what is on its way. */
  drop(): void {
    this.abort.abort();
    this.claimed.length = 0;
  }
}
