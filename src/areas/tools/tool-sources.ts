import { Injectable } from '@nestjs/common';

/** A source that does not say by then whether it comes is not waited for any longer. */
const LONGEST_MS = 5000;

/**
 * Whether the tools of this process are there after its start. Messages that any replica may answer wait for that here: a
 * turn that is taken up too early would go on without its tools.
 */
@Injectable()
export class ToolSources {
  private readonly checks: (() => boolean)[] = [];
  private readonly startedAt = performance.now();
  private settled = false;

  /** @param isSettled whether a source has come, or has failed to */
  expect(isSettled: () => boolean): void {
    this.checks.push(isSettled);
  }

  get areSettled(): boolean {
    this.settled ||=
      performance.now() - this.startedAt > LONGEST_MS || this.checks.every((isSettled) => isSettled());
    return this.settled;
  }
}
