import { setTimeout as sleep } from 'node:timers/promises';
import type { EventSignal } from '../events/event-signal.js';
import type { Logs } from '../logs/logger.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import type { Outcome } from './outcome.js';
import type { OutcomeStore } from './outcome.store.js';
import { OutcomeRecorder } from './outcome-recorder.js';

const OUTCOME: Outcome = {
  deliveryId: '1',
  hookId: 'hook_1',
  status: 'delivered',
  httpStatus: 200,
  error: null,
  delaySecs: null,
  gone: false,
};

function recorder(): OutcomeRecorder {
  return new OutcomeRecorder(
    { record: () => Promise.resolve([]) } as unknown as OutcomeStore,
    { count: () => undefined } as unknown as DeliveryMetrics,
    { told: () => undefined } as unknown as EventSignal,
    { for: () => undefined } as unknown as Logs,
  );
}

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await Promise.resolve();
}

// The writer comes to its end while the next outcome comes in: whichever of the two is first, it is written.
test.each(Array.from({ length: 12 }, (_, tick) => tick))(
  'an outcome that comes %i ticks after a batch is written too',
  async (tick) => {
    const outcomes = recorder();
    await outcomes.record(OUTCOME);
    if (tick > 0) await ticks(tick - 1);
    const written = outcomes.record(OUTCOME).then(() => true);
    expect(await Promise.race([written, sleep(500, false)])).toBe(true);
  },
);
