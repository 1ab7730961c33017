import { Unavailable } from '../../common/errors/gateway-error.js';

/** Runs one piece of work at a time, in the order of arrival. Throws `Unavailable` when too many wait. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  constructor(private readonly maxWaiting: number) {}

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.waiting >= this.maxWaiting) {
      throw new Unavailable('Too many changes are waiting; try again shortly.', { retryAfterSecs: 1 });
    }
    this.waiting += 1;
    const result = this.last.then(() => {
      this.waiting -= 1;
      return work();
    });
    this.last = result.catch(() => undefined);
    return result;
  }
}
