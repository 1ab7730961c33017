import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/gateway-process.js';
import { OUTLIVE_SEED, outlivingRun } from './support/outliving/outliving-run.js';
import { DRAIN_MS } from './support/outliving/turn-fleet.js';

/** How often every replica is restarted; the promise is for OUTLIVE_RESTARTS=10. OUTLIVE_SEED repeats a run. */
const RESTARTS = Number(process.env['OUTLIVE_RESTARTS'] ?? 1);
/** On a busy machine, closing what is left takes some of this time. */
const EXIT_LIMIT_MS = DRAIN_MS + 15_000;
jest.setTimeout(600_000 + RESTARTS * 120_000);

test(`rolling restarts of three replicas under load, ${RESTARTS} of each (OUTLIVE_SEED=${OUTLIVE_SEED}): no turn is interrupted`, async () => {
  const exits: number[] = [];
  const { violations, figures } = await outlivingRun('turns-outlive-restarts', async ({ fleet, random }) => {
    for (let round = 0; round < RESTARTS; round += 1) {
      for (const place of fleet.places) {
        await sleep(500 + random() * 2000);
        const { code, tookMs } = await place.terminate();
        expect(code).toBe(0);
        exits.push(tookMs);
        await until(() => place.running !== undefined, 90_000);
      }
    }
    const sorted = [...exits].sort((a, b) => a - b);
    const longest = Math.round(sorted.at(-1) ?? 0);
    const median = Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
    return { restarts: exits.length, sigterm_to_exit_ms: { median, longest }, drain_timeout_ms: DRAIN_MS };
  });
  expect(violations).toEqual([]);
  expect(figures['turns']).toEqual({ completed: expect.any(Number) as number });
  expect(Math.max(...exits)).toBeLessThan(EXIT_LIMIT_MS);
});
