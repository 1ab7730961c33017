import { RunningTurns } from './running-turns.js';

test('what ends a turn does not end the one that followed it in the same session', () => {
  const running = new RunningTurns();
  running.add('sess_1', 1);
  running.remove('sess_1');
  const next = running.add('sess_1', 2);
  running.abortTurn('sess_1', 1, new Error('the lease of the first is lost'));
  expect(next.signal.aborted).toBe(false);
  running.abortTurn('sess_1', 2, new Error('the lease of the second is lost'));
  expect(next.signal.aborted).toBe(true);
});
