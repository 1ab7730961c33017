/** The longest time that a timer of Node waits, 24 days: after a longer one it would not wait at all. */
const LONGEST_MS = 2 ** 31 - 1;

/** Resolves after so many milliseconds, or early with the signal; without a time only with the signal. Never rejects. */
export function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(done, Math.min(ms, LONGEST_MS));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
