/** The time that a turn has. It stands still while all that the turn waits for is people. */
export class TurnClock {
  private timer: NodeJS.Timeout | undefined;
  private startedAt = 0;

  /**
   * @param limitMs after so many milliseconds `onTimeout` is called, once
   * @param ranMs what the turn ran before, on other replicas
   */
  constructor(
    private readonly limitMs: number,
    private ranMs: number,
    private readonly onTimeout: () => void,
  ) {
    this.start();
  }

  start(): void {
    if (this.timer !== undefined) return;
    this.startedAt = performance.now();
    this.timer = setTimeout(this.onTimeout, Math.max(0, this.limitMs - this.ranMs));
  }

  stop(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.ranMs += performance.now() - this.startedAt;
  }

  /** Whole milliseconds that the turn has run. */
  get elapsedMs(): number {
    const running = this.timer === undefined ? 0 : performance.now() - this.startedAt;
    return Math.round(this.ranMs + running);
  }
}
