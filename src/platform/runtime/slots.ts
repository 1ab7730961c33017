/** Runs at most `most` pieces of work at once; the others wait in order. */
export class Slots {
  /** The functions that start those who wait, in the order of arrival. */
  private readonly waiting = new Set<() => void>();
  private free: number;

  constructor(most: number) {
    this.free = most;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const giveBack = await this.take();
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  /** @returns the function that releases the slot. Throws the signal's reason when that is aborted first. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.free === 0) await this.turn(signal);
    else this.free -= 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.passOn();
      isHeld = false;
    };
  }

  private turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(begin);
        reject(signal?.reason as Error);
      };
      const begin = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      this.waiting.add(begin);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  private passOn(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.free += 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
