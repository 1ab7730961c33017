import type { ModelEvent } from '../../model-provider.port.js';
import { joinedTokens } from './joined-tokens.js';

const token = (text: string): ModelEvent => ({ type: 'token', text });
const call: ModelEvent = { type: 'tool_call', call: { id: '1', name: 'a', arguments: {} } };

test('tokens are joined up to whatever else comes between them', () => {
  const events = [token('a'), token('b'), call, token('c'), token('d')];
  expect([...joinedTokens(events)]).toEqual([token('ab'), call, token('cd')]);
  expect([...joinedTokens([])]).toEqual([]);
});

test('what came before a fault goes on before it', () => {
  const seen: ModelEvent[] = [];
  function* broken(): Generator<ModelEvent> {
    yield token('a');
    yield token('b');
    throw new Error('cut');
  }
  expect(() => {
    for (const event of joinedTokens(broken())) seen.push(event);
  }).toThrow('cut');
  expect(seen).toEqual([token('ab')]);
});
