/** Runs work with a signal of its own that follows a long-lived one, and leaves nothing behind on that one. */
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
