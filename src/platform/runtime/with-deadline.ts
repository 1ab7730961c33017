/**
 * What becomes of `work` when it is settled within `ms` milliseconds, else what `late` gives or throws, such as an error for
 * people. The work is not stopped: `late` aborts what can be aborted. What it throws when nobody waits any more is dropped.
 */
export async function withDeadline<Result>(
  work: Promise<Result>,
  ms: number,
  late: () => Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<Result>((resolve, reject) => {
    timer = setTimeout(() => {
      // One that throws rejects, like one that rejects.
      Promise.resolve().then(late).then(resolve, reject);
    }, ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
