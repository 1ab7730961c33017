/**
 * Runs a load during the work. `isOver` tells the load to end when the work has ended or failed: a load that went on
 * would disturb every file that the same worker runs next. Throws the work's error, otherwise the load's.
 */
export async function underLoad<Result>(
  load: (isOver: () => boolean) => readonly Promise<unknown>[],
  work: () => Promise<Result>,
): Promise<Result> {
  let isOver = false;
  const running = Promise.allSettled(load(() => isOver));
  let result: Result;
  try {
    result = await work();
  } finally {
    isOver = true;
    await running;
  }
  for (const one of await running) if (one.status === 'rejected') throw one.reason;
  return result;
}
