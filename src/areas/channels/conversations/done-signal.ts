import { Injectable } from '@nestjs/common';

/** Wakes requests of this process that wait for a message to be done. Waiters check again anyway, after their time limit. */
@Injectable()
export class DoneSignal {
  /** Bounded by the number of open requests. */
  private readonly waiting = new Map<string, Set<() => void>>();

  done(messageId: string): void {
    for (const wake of this.waiting.get(messageId) ?? []) wake();
  }

  /** Resolves when the message is done in this process, or after `atMostMs`. */
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
