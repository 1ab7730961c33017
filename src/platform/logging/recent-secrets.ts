import type { Redactor } from './redactor.js';

/**
 * Secrets that were given to somebody who may repeat them in an answer, such as an assertion of a minute: hidden until many others
 * came after them.
 */
export class RecentSecrets {
  private secrets: readonly string[] = [];

  /** @param max at most this many, and at least half of them, stay hidden */
  constructor(
    private readonly redactor: Redactor,
    private readonly owner: string,
    private readonly max: number,
  ) {}

  /** Before it is used. */
  add(secret: string): void {
    // Half of them at once: each time that one is dropped, everything that is hidden is gone through.
    const kept = this.secrets.length < this.max ? this.secrets : this.secrets.slice(-this.max / 2);
    this.secrets = [...kept.filter((one) => one !== secret), secret];
    this.redactor.setFor(this.owner, this.secrets);
  }
}
