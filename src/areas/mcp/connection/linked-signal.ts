/** Runs work with a signal of its own that follows `parent`, and leaves no listener behind on the long-lived `parent`. */
export async function withLinkedSignal<Result>(
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  const follow = (): void => own.abort(parent.reason);
  if (parent.aborted) follow();
  parent.addEventListener('abort', follow, { once: true });
  try {
    return await work(own.signal);
  } finally {
    parent.removeEventListener('abort', follow);
  }
}
