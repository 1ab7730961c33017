/** A time-out that can be paused and restarted. */
export class PausableTimer {
  private timer: NodeJS.Timeout | undefined;
  private leftMs: number;
  private startedAt = 0;
  private holders = 0;
  private isOver = false;

  constructor(
    private readonly limitMs: number,
    private readonly onOver: () => void,
  ) {
    this.leftMs = limitMs;
    this.run();
  }

  /** Pauses the clock until every returned function has been called. */
  hold(): () => void {
    this.holders += 1;
    if (this.holders === 1) this.stand();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.holders -= 1;
      if (this.holders === 0) this.run();
    };
  }

  /** Starts the whole time-out again. */
  restart(): void {
    this.stand();
    this.leftMs = this.limitMs;
    if (this.holders === 0) this.run();
  }

  clear(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private run(): void {
    if (this.isOver) return;
    this.startedAt = performance.now();
    this.timer = setTimeout(this.onOver, this.leftMs);
  }

  private stand(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.leftMs = Math.max(0, this.leftMs - (performance.now() - this.startedAt));
  }
}
