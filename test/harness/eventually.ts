import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats the check until it passes. After `timeoutMs` it throws the check's last failure. */
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

/** Milliseconds between two checks: short at first, then longer, so that long waits leave the CPU to others. */
export function* pauses(): Generator<number, never> {
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.2, 100)) yield pauseMs;
}
