import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../common/errors/gateway-error.js';
import type { EventSignal } from '../../platform/events/event.store.js';
import type { Logs } from '../../platform/logging/logger.js';
import type { Outcome } from './delivery.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import { OutcomeRecorder, type OutcomeStore } from './outcome-recorder.js';

const OUTCOME: Outcome = {
  deliveryId: '1',
  hookId: 'hook_1',
  status: 'delivered',
  httpStatus: 200,
  error: null,
  delaySecs: null,
  gone: false,
};

type Store = Partial<Pick<OutcomeStore, 'record' | 'putOff'>>;
function recorder(
  store: Store = { record: () => Promise.resolve([]) },
  logged: unknown[][] = [],
): OutcomeRecorder {
  const log = (...line: unknown[]): void => void logged.push(line);
  return new OutcomeRecorder(
    store as OutcomeStore,
    { count: () => undefined } as unknown as DeliveryMetrics,
    { queued: () => undefined } as unknown as EventSignal,
    { for: () => ({ warn: log, error: log }) } as unknown as Logs,
  );
}

const outcomesOf = (...ids: string[]): Outcome[] => ids.map((deliveryId) => ({ ...OUTCOME, deliveryId }));

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await Promise.resolve();
}

// The writer ends while the next outcome arrives: whichever is first, the outcome is written.
test.each(Array.from({ length: 12 }, (_, tick) => tick))(
  'an outcome that arrives %i ticks after a batch is written too',
  async (tick) => {
    const outcomes = recorder();
    await outcomes.record(OUTCOME);
    if (tick > 0) await ticks(tick - 1);
    const written = outcomes.record(OUTCOME).then(() => true);
    expect(await Promise.race([written, sleep(500, false)])).toBe(true);
  },
);

test.concurrent('an outcome that the database always refuses does not hold up others, and its delivery is sent again later', async () => {
  const written: string[] = [];
  const putOff: string[] = [];
  const logged: unknown[][] = [];
  const store: Store = {
    record: (all) => {
      if (all.some(({ deliveryId }) => deliveryId === '2')) return Promise.reject(new Error('refused'));
      written.push(...all.map(({ deliveryId }) => deliveryId));
      return Promise.resolve([]);
    },
    putOff: ({ deliveryId }) => Promise.resolve(void putOff.push(deliveryId)),
  };
  const outcomes = recorder(store, logged);
  await Promise.all(outcomesOf('1', '2', '3').map((one) => outcomes.record(one)));
  expect({ written, putOff }).toEqual({ written: ['1', '3'], putOff: ['2'] });
  expect(logged.at(-1)).toEqual([
    'the outcome of a delivery could not be stored; it will be sent again',
    { delivery: '2', hook_id: 'hook_1', status: 'delivered', put_off: true },
  ]);
  await outcomes.record({ ...OUTCOME, deliveryId: '4' });
  expect(written).toEqual(['1', '3', '4']);
});

test.concurrent('while the database is away every outcome is kept, however often it is tried', async () => {
  let attempts = 0;
  const logged: unknown[][] = [];
  const store: Store = {
    record: () => {
      attempts += 1;
      return attempts < 6 ? Promise.reject(new Unavailable('away')) : Promise.resolve([]);
    },
    putOff: () => Promise.reject(new Error('not to be put off')),
  };
  const outcomes = recorder(store, logged);
  await outcomes.record(OUTCOME);
  expect(attempts).toBe(6);
  expect(logged).toHaveLength(5);
});
