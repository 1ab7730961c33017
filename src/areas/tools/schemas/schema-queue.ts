import { type SchemaAnswer, type SchemaJob, type SchemaLimits, SchemaThread } from './schema-thread.js';

const MAX_WAITING = 1000;

/** Thrown when more jobs wait for the thread than it can handle soon. */
class SchemaQueueFull extends Error {
  constructor() {
    super('Too many tool calls wait for their arguments to be checked; try again.');
  }
}

/** One thread for schemas, and the jobs that wait for it in order of arrival. A thread that ended is replaced. */
export class SchemaQueue {
  private thread: SchemaThread | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private isStopped = false;

  constructor(private readonly limits: SchemaLimits) {}

  /** Throws `SchemaQueueFull`, an error when the thread does not start, and the reason of the signal once that is aborted. */
  async run(job: SchemaJob, signal?: AbortSignal): Promise<SchemaAnswer> {
    if (this.waiting >= MAX_WAITING) throw new SchemaQueueFull();
    this.waiting += 1;
    const done = this.last.then(() => {
      signal?.throwIfAborted();
      return this.answer(job);
    });
    this.last = done.catch(() => undefined);
    void this.last.then(() => (this.waiting -= 1));
    return signal === undefined ? done : unlessAborted(done, signal);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.thread?.end();
  }

  private async answer(job: SchemaJob): Promise<SchemaAnswer> {
    if (this.isStopped) throw new Error('The gateway stops.');
    if (this.thread === undefined || this.thread.hasEnded) this.thread = await SchemaThread.start();
    return this.thread.answer(job, this.limits);
  }
}

/** Rejects as soon as the signal is aborted; the work goes on to its end. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
