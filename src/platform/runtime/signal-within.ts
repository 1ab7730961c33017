/**
 * Aborted with `signal`, if there is one, or after this many milliseconds. `AbortSignal.any` would hold its parts
 * weakly: on Node 20 a time-out without a listener of its own is garbage collected, and whoever waits for it waits
 * forever.
 */
export function signalWithin(ms: number, signal?: AbortSignal | null): AbortSignal {
  const late = AbortSignal.timeout(ms);
  late.addEventListener('abort', () => undefined, { once: true });
  return signal === undefined || signal === null ? late : AbortSignal.any([signal, late]);
}
