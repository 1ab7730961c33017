import type { Database } from '../../platform/database/database.js';
import type { EventSignal } from '../../platform/events/event.store.js';
import type { Settings } from '../../platform/settings/settings.js';
import { TurnEndingsStore } from './turn-endings.store.js';
import type { TurnMetrics } from './turn-metrics.js';

test('turns whose replica is gone are counted where they are closed', async () => {
  const lost: number[] = [];
  const closed = [
    { id: 'turn_1', session_id: 'sess_1', status: 'interrupted', deliveries: 0 },
    { id: 'turn_2', session_id: 'sess_2', status: 'interrupted', deliveries: 0 },
    { id: 'turn_3', session_id: 'sess_3', status: 'cancelled', deliveries: 0 },
  ];
  const store = new TurnEndingsStore(
    { query: () => Promise.resolve(closed) } as unknown as Database,
    { value: 'replica' },
    { queued: () => undefined } as unknown as EventSignal,
    { current: { agent: { resume: true }, turns: { max_attempts: 3 } } } as Settings,
    { lost: (turns: number) => lost.push(turns) } as unknown as TurnMetrics,
  );
  expect(await store.recover()).toEqual(closed);
  expect(lost).toEqual([2]);
});
