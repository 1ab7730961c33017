import { LiveTurn } from '../live-turn.js';
import { TurnProgress } from './turn-progress.js';
import type { TurnStep } from './turn-steps.store.js';

const usage = { input: 30, output: 4 };
const DONE: readonly TurnStep[] = [
  {
    kind: 'asked',
    text: 'Let me see.',
    model: 'm',
    calls: [
      { id: 'call_1', name: 'look_up', arguments: { key: 'a' } },
      { id: 'call_2', name: 'note', arguments: {} },
    ],
    spending: [{ provider: 'default', model: 'm', usage } as never],
  },
  {
    kind: 'answered',
    result: { callId: 'call_1', content: 'found', isError: false },
    record: { status: 'success', durationMs: 3 },
  },
];

function progress(): TurnProgress {
  return new TurnProgress(new LiveTurn('sess_1', 'turn_1'), 'm', () => undefined, DONE);
}

test('a turn that ends before its steps are shown again keeps what it said, did and used', () => {
  const { content, toolCalls, usage: used } = progress().soFar();
  expect(content).toBe('Let me see.');
  expect(used).toMatchObject(usage);
  expect(toolCalls.map(({ id, status, output }) => [id, status, output])).toEqual([
    ['call_1', 'success', 'found'],
    ['call_2', 'error', expect.stringContaining('No result')],
  ]);
});

test('what is shown again counts once, and what follows is added', async () => {
  const running = progress();
  const asked = { provider: 'default', model: 'm', answered: 'm' };
  await running.listen({ type: 'usage', usage, model: 'm', asked });
  await running.listen({ type: 'token', text: 'Let me see.' });
  await running.listen({ type: 'token', text: '\n\nIt is a.' });
  await running.listen({ type: 'usage', usage: { input: 1, output: 1 }, model: 'm', asked });
  const { content, usage: used } = running.soFar();
  expect(content).toBe('Let me see.\n\nIt is a.');
  expect(used).toMatchObject({ input: 31, output: 5 });
});
