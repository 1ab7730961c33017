import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { silentLogs } from '../../../platform/logging/logger.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import { TurnSlots } from '../limits/turn-slots.js';
import { RunningTurns } from '../running-turns.js';
import { LostTurns } from './lost-turns.service.js';

test('a turn whose token cannot be checked takes no place', async () => {
  const running = new RunningTurns();
  const slots = new TurnSlots(running, {
    current: { limits: { turns_per_replica: 1 } } as GatewaySettings,
  });
  const readiness = new Readiness();
  readiness.ready();
  const turn = { sessionId: 'sess_1', turnId: 'turn_1', origin: { caller: { tokenId: 'tok_1' } } };
  const store = { wakeOverdue: () => Promise.resolve(), due: () => Promise.resolve([turn]) };
  const none = (): void => undefined;
  const endedAmong = jest.fn(() => Promise.reject(new Error('no database')));
  const parts = [
    ...[store, {}, slots, running, { endedAmong }, { onAnswer: none }, { areSettled: true }],
    ...[readiness, { watch: none }, silentLogs],
  ] as unknown as ConstructorParameters<typeof LostTurns>;
  const lost = new LostTurns(...parts);
  lost.onModuleInit();
  lost.wake();
  await new Promise((resolve) => setImmediate(resolve));
  await lost.onModuleDestroy();
  expect(endedAmong).toHaveBeenCalled();
  expect(slots.tryAcquire()).toBe(true);
});
