import fc from 'fast-check';
import type { ModelEvent } from '../../model-provider.port.js';
import { joinedEvents, type ServerEvent, ServerEventParser } from './server-events.js';

function parse(...chunks: string[]): ServerEvent[] {
  const parser = new ServerEventParser();
  const events = chunks.flatMap((chunk) => parser.push(chunk));
  const last = parser.end();
  return last === undefined ? events : [...events, last];
}

describe('server-sent events', () => {
  it('are the same wherever the text is split, and whatever its line ends', () => {
    const field = fc.constantFrom('data: ', 'data:', 'event: ', ': ', 'id: ', 'data', '', 'retry: ');
    const value = fc.string({ unit: fc.constantFrom('a', ':', ' ', '{', 'ü'), maxLength: 6 });
    const line = fc.tuple(field, value).map(([name, text]) => (name === '' ? '' : name + text));
    const ending = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), ending, fc.array(fc.nat(40)), (lines, end, cuts) => {
        const text = lines.map((each) => each + end).join('');
        const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        const chunks = places.slice(1).map((place, index) => text.slice(places[index], place));
        const plain = lines.map((each) => `${each}\n`).join('');
        expect(parse(...chunks)).toEqual(parse(plain));
      }),
    );
  });

  it('join their data lines and carry their name', () => {
    expect(parse('event: a\ndata: 1\ndata:2\n\ndata: 3\n\n')).toEqual([
      { event: 'a', data: '1\n2' },
      { event: '', data: '3' },
    ]);
  });

  it('are ignored without data', () => {
    expect(parse('event: a\n\n: comment\n\nid: 1\n\n')).toEqual([]);
  });

  it('count at the end only when they are complete', () => {
    expect(parse('data: {"a":1}')).toEqual([{ event: '', data: '{"a":1}' }]);
    expect(parse('data: {"a":')).toEqual([]);
    expect(parse('data: [DONE]\n')).toEqual([{ event: '', data: '[DONE]' }]);
  });

  it('take time in proportion to their length, even as one line in small pieces', () => {
    const piece = 'x'.repeat(16);
    const parser = new ServerEventParser();
    parser.push('data: ');
    for (let count = 0; count < 200_000; count += 1) parser.push(piece);
    const [event] = parser.push('\n\n');
    expect(event?.data).toHaveLength(3_200_000);
  });
});

const token = (text: string): ModelEvent => ({ type: 'token', text });
const call: ModelEvent = { type: 'tool_call', call: { id: '1', name: 'a', arguments: {} } };

test('tokens are joined up to the next event of another kind', () => {
  const events = [token('a'), token('b'), call, token('c'), token('d')];
  expect([...joinedEvents(events)]).toEqual([token('ab'), call, token('cd')]);
  expect([...joinedEvents([])]).toEqual([]);
});

test('events before a fault are passed on before it', () => {
  const seen: ModelEvent[] = [];
  function* broken(): Generator<ModelEvent> {
    yield token('a');
    yield token('b');
    throw new Error('cut');
  }
  expect(() => {
    for (const event of joinedEvents(broken())) seen.push(event);
  }).toThrow('cut');
  expect(seen).toEqual([token('ab')]);
});
