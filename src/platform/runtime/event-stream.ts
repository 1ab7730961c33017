/** Bytes that were handed to a connection, and how many of them it has not taken yet. */
export interface Traffic {
  readonly sent: number;
  readonly pending: number;
}

/** Why a stream is cut: its reader takes nothing, or its token may no longer read. */
export type CutReason = 'stalled' | 'forbidden';

/**
 * One reader of events, whatever carries them: open until its reader is gone or it was shown the last thing. Knows for how long the
 * reader has taken nothing, so that whoever keeps the stream (`OpenStreams`) can cut it.
 */
export abstract class EventStream {
  private readonly ended = new AbortController();
  private takenBytes = -1;
  private takenAt = performance.now();

  protected abstract traffic(): Traffic;
  /** A sign of life; called when the connection may have been silent. */
  abstract heartbeat(): void;
  abstract cut(why: CutReason): void;
  /** Ends it because the gateway stops, with a hint to come back after this many milliseconds; perhaps once it was shown what runs here. */
  abstract close(retryMs: number): void;

  get isOpen(): boolean {
    return !this.ended.signal.aborted;
  }

  /** Aborted when it has ended. */
  protected get whenEnded(): AbortSignal {
    return this.ended.signal;
  }

  /** Calls the listener when the stream has ended, for any reason; at once if it has. */
  onEnd(listener: () => void): void {
    if (!this.isOpen) listener();
    else this.ended.signal.addEventListener('abort', listener, { once: true });
  }

  /** To be called when the reader is gone, and when it is shown nothing more. Calling it again changes nothing. */
  end(): void {
    this.ended.abort();
  }

  /** For how many milliseconds the reader has taken nothing of what is on its way; 0 when nothing is. */
  stalledMs(): number {
    const { sent, pending } = this.traffic();
    const taken = sent - pending;
    if (taken !== this.takenBytes || pending === 0) this.takenAt = performance.now();
    this.takenBytes = taken;
    return performance.now() - this.takenAt;
  }
}
