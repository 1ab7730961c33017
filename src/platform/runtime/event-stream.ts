/**
 * Counts bytes that were written to a connection, and how many of them it has not taken yet. A write counts as taken
 * once the connection has taken all of it.
 */
export interface Traffic {
  readonly sent: number;
  readonly pending: number;
}

/** Why a stream is cut: its reader takes nothing, or its token may no longer read. */
export type CutReason = 'stalled' | 'forbidden';

/**
 * One reader of events over any transport. It is open from the beginning until its first `end`, and never again; then
 * its listeners are called, each once. A cut ends it at once, and so does its reader when it leaves; `close` may show a
 * turn first. It knows how long the reader has taken nothing, however much is written meanwhile. It has no timer and
 * keeps no bytes: `OpenStreams` asks it several times a second, has heartbeats sent and cuts it, and whoever writes to it
 * writes no more while too much is pending.
 */
export abstract class EventStream {
  private readonly ended = new AbortController();
  private takenBytes = -1;
  private takenAt = performance.now();

  protected abstract traffic(): Traffic;
  /** A heartbeat; called when the connection may have been silent. */
  abstract heartbeat(): void;
  /** Ends the stream at once, whatever is still to be shown. */
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

  /**
   * How many milliseconds the reader has taken none of the pending bytes; 0 when there are none, and when it is asked for
   * the first time. What happened between two questions counts from the earlier one, if nothing was taken, else from the
   * later one.
   */
  stalledMs(): number {
    const { sent, pending } = this.traffic();
    const taken = sent - pending;
    if (taken !== this.takenBytes || pending === 0) this.takenAt = performance.now();
    this.takenBytes = taken;
    return performance.now() - this.takenAt;
  }
}
