import { CallIds } from './call-ids.js';
import type { ModelRound } from './model-calls.js';

const round = (...calls: { id: string; name: string }[]): ModelRound => ({
  text: '',
  calls: calls.map((call) => ({ ...call, arguments: {} })),
  usage: { input: 1, output: 1 },
  model: 'm',
  finishReason: 'tool_calls',
  providerState: { items: ['as it came'] },
});

describe('calls with the ids and names that a model gave them', () => {
  it('stay as they are when every wire accepts them, with the state that their provider wants back', () => {
    const given = round({ id: 'a', name: 'look_up' }, { id: 'b', name: 'look-up' });
    expect(new CallIds(() => []).unique(given)).toBe(given);
  });

  it.each([
    ['functions.look_up', 'functions_look_up'],
    ['look up', 'look_up'],
    ['', 'unnamed'],
    ['x'.repeat(65), 'x'.repeat(64)],
    ['Ü😀', '___'],
  ])('a name that wires refuse in a history is repaired: %s', (name, mended) => {
    const { calls, providerState } = new CallIds(() => []).unique(round({ id: 'a', name }));
    expect(calls).toEqual([{ id: 'a', name: mended, arguments: {} }]);
    expect(providerState).toBeUndefined();
  });

  it('an id that was used before, or that wires refuse, is replaced', () => {
    const ids = new CallIds(() => [
      { role: 'assistant', text: '', toolCalls: round({ id: 'a', name: 'f' }).calls },
    ]);
    const { calls } = ids.unique(
      round({ id: 'a', name: 'f' }, { id: 'b', name: 'f' }, { id: 'b', name: 'f' }),
    );
    expect(calls.map(({ id }) => /^(a|b|call_\w+)$/.exec(id)?.[0].slice(0, 4))).toEqual([
      'call',
      'b',
      'call',
    ]);
  });
});
