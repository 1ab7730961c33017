/** Lets the event loop serve what else has arrived. */
export type Pause = () => Promise<void>;

const pause: Pause = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Work that keeps the event loop busy, one piece after the other and with a pause behind each: however much of it comes at
 * once, nobody else waits for more than one step of one piece. The caller bounds how much can wait.
 */
export function oneAtATime(): <Result>(work: (pause: Pause) => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(pause).then(() => work(pause));
    last = done.catch(() => undefined);
    return done;
  };
}
