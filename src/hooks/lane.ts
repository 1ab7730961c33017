import { LANE_LEASE_SECS } from './lane.store.js';

/** A lane is left this long before its lease ends, so that its next owner does not send beside us. */
const MARGIN_MS = 1000;

/** The right of this process to make the first attempts of one hook. */
export class Lane {
  private readonly abort = new AbortController();
  private heldUntil = 0;
  /** Whether deliveries are on their way. */
  isBusy = false;

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

  renewed(askedAt: number): void {
    this.heldUntil = askedAt + LANE_LEASE_SECS * 1000 - MARGIN_MS;
  }

  /** Breaks off what is on its way. */
  drop(): void {
    this.abort.abort();
  }
}
