import type { ApprovalWaiting } from '../../tools/tools.api.js';

export interface WaitTerms {
  /** How long a replica keeps a turn that only waits; read again each time. */
  readonly parkAfterMs: () => number;
  /** Called when all calls that are left wait for a person, and when that is no longer so. */
  readonly onIdle: (isIdle: boolean) => void;
  /** Called when they have waited long enough, with the approvals that are open. */
  readonly park: (approvalIds: readonly string[]) => void;
}

/** Which tool calls of one turn wait for a person. */
export class ApprovalWaits implements ApprovalWaiting {
  private readonly open = new Set<string>();
  private calls = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly terms: WaitTerms) {}

  /** Counts a call that is not answered yet. */
  async during<Result>(call: () => Promise<Result>): Promise<Result> {
    this.calls += 1;
    try {
      return await call();
    } finally {
      this.calls -= 1;
      this.changed();
    }
  }

  begin(approvalId: string): () => void {
    this.open.add(approvalId);
    this.changed();
    return () => {
      if (this.open.delete(approvalId)) this.changed();
    };
  }

  /** The replica stops, or may stop: a turn that only waits is not kept any longer. */
  hurry(): void {
    if (this.timer !== undefined) this.parkWithin(0);
  }

  /** The turn is over here. */
  end(): void {
    this.open.clear();
    this.changed();
  }

  private changed(): void {
    const isIdle = this.open.size > 0 && this.open.size === this.calls;
    if (isIdle === (this.timer !== undefined)) return;
    if (isIdle) this.parkWithin(this.terms.parkAfterMs());
    else {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    this.terms.onIdle(isIdle);
  }

  private parkWithin(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.terms.park([...this.open]), ms);
  }
}
