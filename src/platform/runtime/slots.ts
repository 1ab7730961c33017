/** Runs at most `most` pieces of work at once; the others wait in their order. */
export class Slots {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(most: number) {
    this.free = most;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.free === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.free -= 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
