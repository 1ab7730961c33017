import type { Message } from '../../turns/turns.api.js';
import type { Echo } from '../requests/response-echo.js';
import { placeAfter, ResponseEvents } from './response-events.js';

interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly output_index?: number;
}

const state = {
  id: 'resp_1',
  createdAt: 0,
  echo: { tools: [{ name: 'weather' }] } as unknown as Echo,
};
const call = (id: string) => ({ id, name: 'weather', arguments: { city: 'Oslo' } });

function answerOf(content: string, ...calls: string[]): Message {
  const toolCalls = calls.map(call);
  return { content, toolCalls, finishReason: 'stop', incomplete: null } as unknown as Message;
}

/** The events behind one that was seen, of a turn that is over. */
function eventsAfter(after: number, answer: Message, ...tokens: string[]): Event[] {
  const place = placeAfter(after);
  const events = new ResponseEvents(state, place);
  const frames = [
    events.opening(),
    ...tokens.filter(Boolean).map((text) => events.frames({ type: 'token', text })),
    events.frames({ type: 'done', message: answer }),
  ].join('');
  return [...frames.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Event);
}

const shapeOf = ({ type, sequence_number: number, output_index: index }: Event) => [type, number, index];

test.each<[string, Message, string[]]>([
  ['text', answerOf('Hello'), ['Hel', 'lo']],
  ['text and calls', answerOf('Hello', 'c0', 'c1'), ['Hel', 'lo']],
  ['a call alone', answerOf('', 'c0'), []],
  ['nothing', answerOf(''), []],
])(
  'after any event the rest equals that of the first stream, by type, number and index: %s',
  (_what, answer, tokens) => {
    const whole = eventsAfter(-1, answer, ...tokens);
    expect(whole.at(-1)?.type).toBe('response.completed');
    for (const { sequence_number: after } of whole) {
      const seen = whole.filter(({ sequence_number: n }) => n <= after);
      const shown = seen.filter(({ type }) => type === 'response.output_text.delta').length;
      const rest = whole.slice(seen.length);
      expect(eventsAfter(after, answer, ...tokens.slice(shown)).map(shapeOf)).toEqual(rest.map(shapeOf));
    }
  },
);
