/** Wakes one waiter; a signal that finds no waiter is kept for the next wait. */
export class WakeSignal {
  private isSet = false;
  private wake: (() => void) | undefined;

  notify(): void {
    this.isSet = true;
    this.wake?.();
  }

  /** Returns at the next signal, at once when one was kept, or after `atMostMs`. */
  async wait(atMostMs: number): Promise<void> {
    if (!this.isSet) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, atMostMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = undefined;
    }
    this.isSet = false;
  }
}
