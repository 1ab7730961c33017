import type { Delivery } from './delivery.js';
import { LANE_LEASE_SECS } from './lane.store.js';

/** Sending stops this long before the lease ends, so that the next owner never sends at the same time. */
const MARGIN_MS = 250;
/** The next claim is made when this share of the last one is left, so that sending does not pause. */
const LOW = 0.5;
/** With this many outcomes not stored yet, a lane claims nothing more. */
const MAX_UNWRITTEN = 500;
/** After this many claims it starts over, to find deliveries that are sent again under an older number. */
const CLAIMS_IN_A_ROW = 10;

/** The right of this process to make the first attempts of one hook, and the deliveries it has claimed. */
export class Lane {
  private readonly abort = new AbortController();
  private readonly claimed: Delivery[] = [];
  private heldUntil = 0;
  private lowMark = 0;
  private lastSequence = 0;
  private claims = 0;
  /** Whether everything claimed has to be sent and stored before the next claim. */
  private isDry = false;
  /** Deliveries being sent, and outcomes not stored yet. */
  sending = 0;
  unwritten = 0;

  /** @param askedAt when the lease was requested (`performance.now()`) */
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

  /** Claimed deliveries that are not sent yet. */
  get length(): number {
    return this.claimed.length;
  }

  private get isLow(): boolean {
    return this.claimed.length <= this.lowMark;
  }

  get wantsMore(): boolean {
    if (!this.isHeld) return false;
    return this.isDone || (this.isLow && !this.isDry && this.unwritten < MAX_UNWRITTEN);
  }

  /** The next claim takes deliveries after this number. */
  get after(): number {
    return this.isDone ? 0 : this.lastSequence;
  }

  /** Whether every claimed delivery is sent and its outcome stored. */
  private get isDone(): boolean {
    return !this.isBusy && this.claimed.length === 0;
  }

  /** @param most how many were requested */
  add(deliveries: readonly Delivery[], most: number): void {
    this.claimed.push(...deliveries);
    this.claims += 1;
    this.isDry = deliveries.length < most || this.claims % CLAIMS_IN_A_ROW === 0;
    this.lowMark = Math.floor(deliveries.length * LOW);
    this.lastSequence = deliveries.at(-1)?.sequence ?? this.lastSequence;
  }

  /** The next delivery to send; undefined without one, or when the lease has ended. */
  next(): Delivery | undefined {
    return this.isHeld ? this.claimed.shift() : undefined;
  }

  renewed(askedAt: number): void {
    this.heldUntil = askedAt + LANE_LEASE_SECS * 1000 - MARGIN_MS;
  }

  /** Drops the claimed deliveries; those being sent may finish. */
  finish(): void {
    this.claimed.length = 0;
  }

  /** Also aborts the deliveries being sent. */
  drop(): void {
    this.finish();
    this.abort.abort();
  }
}
