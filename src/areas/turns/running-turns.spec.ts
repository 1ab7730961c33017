import { RunningTurns } from './running-turns.js';
import { TurnInterrupted } from './turns.errors.js';

test('what ends a turn does not end the one that followed it in the same session', () => {
  const running = new RunningTurns();
  running.add('sess_1', 1, ['tok_1']);
  running.remove('sess_1', 1);
  const next = running.add('sess_1', 2, ['tok_1']);
  running.abortTurn('sess_1', 1, new Error('the lease of the first is lost'));
  expect(next.signal.aborted).toBe(false);
  running.abortTurn('sess_1', 2, new Error('the lease of the second is lost'));
  expect(next.signal.aborted).toBe(true);
});

test('a turn that has lost its session to the next one is ended, and its end takes nothing from that one', () => {
  const running = new RunningTurns();
  const lost = running.add('sess_1', 1, ['tok_1']);
  const next = running.add('sess_1', 2, ['tok_1']);
  expect(lost.signal.reason).toBeInstanceOf(TurnInterrupted);
  running.remove('sess_1', 1);
  expect([...running.olderThan(0)]).toEqual([['sess_1', 2]]);
  expect(running.abort('sess_1', new TurnInterrupted())).toBe(true);
  expect(next.signal.aborted).toBe(true);
});

test('the turns of some tokens are ended, and no others', () => {
  const running = new RunningTurns();
  const [one, two] = [running.add('sess_1', 1, ['tok_1']), running.add('sess_2', 1, ['tok_2'])];
  running.add('sess_3', 1, ['tok_1']);
  expect(running.ownersIn(['sess_1', 'sess_2', 'sess_3', 'sess_4'])).toEqual(['tok_1', 'tok_2']);
  running.abortOf(new Set(['tok_1']), new TurnInterrupted());
  expect([one.signal.aborted, two.signal.aborted]).toEqual([true, false]);
});
