import { RunningTurns } from './running-turns.js';
import { TurnAwaitsApproval, TurnHandedOver, TurnInterrupted, TurnStopped } from './turns.errors.js';

test('ending a turn does not end the one that followed it in the same session', () => {
  const running = new RunningTurns();
  running.add('sess_1', 1, ['tok_1']);
  running.remove('sess_1', 1);
  const next = running.add('sess_1', 2, ['tok_1']);
  running.abortTurn('sess_1', 1, new Error('the lease of the first is lost'));
  expect(next.signal.aborted).toBe(false);
  running.abortTurn('sess_1', 2, new Error('the lease of the second is lost'));
  expect(next.signal.aborted).toBe(true);
});

test('a turn that has lost its session to the next one is ended, and takes nothing from that one', () => {
  const running = new RunningTurns();
  const lost = running.add('sess_1', 1, ['tok_1']);
  const next = running.add('sess_1', 2, ['tok_1']);
  expect(lost.signal.reason).toBeInstanceOf(TurnInterrupted);
  running.remove('sess_1', 1);
  expect([...running.olderThan(0)]).toEqual([['sess_1', 2]]);
  expect(running.abort('sess_1', new TurnInterrupted())).toBe(true);
  expect(next.signal.aborted).toBe(true);
});

test('turns without a session are counted for their token until they end', () => {
  const running = new RunningTurns();
  running.add('sess_1', 1, ['tok_1']);
  running.add('turn_1', 0, ['tok_1', 'ada'], true);
  running.add('turn_2', 0, ['tok_2'], true);
  expect(['tok_1', 'tok_2', 'tok_3'].map((token) => running.unstoredOf(token))).toEqual([1, 1, 0]);
  running.remove('turn_1', 0);
  expect(running.unstoredOf('tok_1')).toBe(0);
});

test.each([new TurnAwaitsApproval(['appr_1']), new TurnHandedOver()])(
  'a turn that is being handed over can no longer be ended here: %s',
  (reason) => {
    const running = new RunningTurns();
    const turn = running.add('sess_1', 1, ['tok_1']);
    turn.abort(reason);
    expect(running.abort('sess_1', new TurnStopped())).toBe(false);
    expect(turn.signal.reason).toBe(reason);
  },
);

test('the turns of some tokens are ended, and no others', () => {
  const running = new RunningTurns();
  const [one, two] = [running.add('sess_1', 1, ['tok_1']), running.add('sess_2', 1, ['tok_2'])];
  running.add('sess_3', 1, ['tok_1']);
  expect(running.ownersAfter(0)).toEqual(['tok_1', 'tok_2']);
  running.abortOf(new Set(['tok_1']), new TurnInterrupted());
  expect([one.signal.aborted, two.signal.aborted]).toEqual([true, false]);
});

test('a turn that starts after all were ended ends at once, in the same way', () => {
  const running = new RunningTurns();
  running.handOver(true);
  const [stored, unstored] = [running.add('sess_1', 1, ['tok_1']), running.add('turn_1', 0, ['tok_1'], true)];
  expect(stored.signal.reason).toBeInstanceOf(TurnHandedOver);
  expect(unstored.signal.reason).toBeInstanceOf(TurnInterrupted);
});
