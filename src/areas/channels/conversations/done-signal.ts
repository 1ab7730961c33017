import { Injectable } from '@nestjs/common';

/** Tells who waits in this process that a message is done with. Whoever waits looks again in any case. */
@Injectable()
export class DoneSignal {
  /** Bounded by the open requests. */
  private readonly waiting = new Map<string, Set<() => void>>();

  done(messageId: string): void {
    for (const wake of this.waiting.get(messageId) ?? []) wake();
  }

  /** Resolves when it is done here, or after so long. */
  wait(messageId: string, atMostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wakers = this.waiting.get(messageId) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        wakers.delete(wake);
        if (wakers.size === 0) this.waiting.delete(messageId);
        resolve();
      };
      const timer = setTimeout(wake, atMostMs);
      wakers.add(wake);
      this.waiting.set(messageId, wakers);
    });
  }
}
