import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats the check until it passes; after `timeoutMs` its last failure is the test's. */
export async function eventually(check: () => void | Promise<void>, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(25);
    }
  }
}
