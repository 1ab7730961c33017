import { Injectable } from '@nestjs/common';

/** Tells the deliverer of this process that an event was committed, so that its first attempt leaves at once. */
@Injectable()
export class EventSignal {
  private listener: (() => void) | undefined;

  /** There is one deliverer in a process. */
  onCommitted(listener: () => void): void {
    this.listener = listener;
  }

  /** Call it after the commit. A signal that is lost is made up for by the deliverer's poll. */
  committed(): void {
    this.listener?.();
  }

  /** The same, given the number of deliveries: nothing happens for none. */
  queued(deliveries: number | null | undefined): void {
    if (deliveries !== null && deliveries !== undefined && deliveries > 0) this.committed();
  }
}
