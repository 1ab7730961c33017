import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats the check until it passes; after `timeoutMs` its last failure is the test's. */
export async function eventually(check: () => void | Promise<void>, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (const pauseMs of pauses()) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(pauseMs);
    }
  }
}

/** Milliseconds between two looks: short at first, then longer, so that long waits leave the machine to others. */
export function* pauses(): Generator<number, never> {
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.2, 100)) yield pauseMs;
}
