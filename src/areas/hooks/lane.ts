import type { Delivery } from './delivery.js';
import { LANE_LEASE_SECS } from './lane.store.js';

/** A lane is left this long before its lease ends, so that its next owner does not send beside us. */
const MARGIN_MS = 250;
/** What comes next is asked for when so much of a claim is left, so that nobody waits for it. */
const LOW = 0.5;
/** A lane with so many outcomes that are not written down gets no more before they are. */
const MAX_UNWRITTEN = 500;
/** After so many claims in a row it asks from the start again, for what is sent again under an older number. */
const CLAIMS_IN_A_ROW = 10;

/** The right of this process to make the first attempts of one hook, and what it has claimed of them. */
export class Lane {
  private readonly abort = new AbortController();
  private readonly claimed: Delivery[] = [];
  private heldUntil = 0;
  private lowMark = 0;
  private lastSequence = 0;
  private claims = 0;
  /** Whether everything claimed is to be sent and written down before more is asked for. */
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
    return this.isDone || (this.isLow && !this.isDry && this.unwritten < MAX_UNWRITTEN);
  }

  /** Deliveries after this number are not here yet. */
  get after(): number {
    return this.isDone ? 0 : this.lastSequence;
  }

  /** Whether all that was claimed is sent and written down. */
  private get isDone(): boolean {
    return !this.isBusy && this.claimed.length === 0;
  }

  /** @param most how many were asked for */
  add(deliveries: readonly Delivery[], most: number): void {
    this.claimed.push(...deliveries);
    this.claims += 1;
    this.isDry = deliveries.length < most || this.claims % CLAIMS_IN_A_ROW === 0;
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

  /** Sends nothing more of what was claimed. */
  finish(): void {
    this.claimed.length = 0;
  }

  /** Breaks off what is on its way, too. */
  drop(): void {
    this.finish();
    this.abort.abort();
  }
}
