/**
 * The result of `work` when it settles within `ms` milliseconds; otherwise what `late` returns or throws, such as an
 * error for people. The work is not stopped: `late` aborts what can be aborted. What the work throws after that is
 * dropped.
 */
export async function withDeadline<Result>(
  work: Promise<Result>,
  ms: number,
  late: () => Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<Result>((resolve, reject) => {
    timer = setTimeout(() => {
      // A `late` that throws rejects, just like one that returns a rejected promise.
      Promise.resolve().then(late).then(resolve, reject);
    }, ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
