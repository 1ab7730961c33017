/** Counts bytes that were written to a connection, and how many of them it has not taken yet. */
export interface Traffic {
  readonly sent: number;
  readonly pending: number;
}

/** Why a stream is cut: its reader takes nothing, or its token may no longer read. */
export type CutReason = 'stalled' | 'forbidden';

/**
 * One reader of events over any transport. It is open until the reader is gone or everything was shown. It knows how
 * long the reader has taken nothing, so that `OpenStreams` can cut it.
 */
export abstract class EventStream {
  private readonly ended = new AbortController();
  private takenBytes = -1;
  private takenAt = performance.now();

  protected abstract traffic(): Traffic;
  /** A heartbeat; called when the connection may have been silent. */
  abstract heartbeat(): void;
  abstract cut(why: CutReason): void;
  /**
   * Ends the stream because the gateway stops, and tells the reader to come back after this many milliseconds. It may
   * show a turn that runs here to its end first.
   */
  abstract close(retryMs: number): void;

  get isOpen(): boolean {
    return !this.ended.signal.aborted;
  }

  /** Aborted when it has ended. */
  protected get whenEnded(): AbortSignal {
    return this.ended.signal;
  }

  /** Calls the listener when the stream has ended, for any reason; at once if it already has. */
  onEnd(listener: () => void): void {
    if (!this.isOpen) listener();
    else this.ended.signal.addEventListener('abort', listener, { once: true });
  }

  /** Call it when the reader is gone, or when nothing more will be shown. Calling it again changes nothing. */
  end(): void {
    this.ended.abort();
  }

  /** How many milliseconds the reader has taken none of the pending bytes; 0 when there are none. */
  stalledMs(): number {
    const { sent, pending } = this.traffic();
    const taken = sent - pending;
    if (taken !== this.takenBytes || pending === 0) this.takenAt = performance.now();
    this.takenBytes = taken;
    return performance.now() - this.takenAt;
  }
}
