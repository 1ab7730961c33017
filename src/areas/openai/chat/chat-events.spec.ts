import { ChatEvents } from './chat-events.js';

const head = { id: 'chatcmpl-1', created: 0, model: 'default' };

test('a turn that starts again after it said something ends the stream with an error, once', () => {
  const events = new ChatEvents(head, false);
  expect(events.frames({ type: 'restarted', attempt: 1 })).toBe('');
  expect(events.frames({ type: 'token', text: 'One' })).toContain('"One"');
  expect(events.frames({ type: 'restarted', attempt: 2 })).toMatch(
    /^data: {"error":{"message":"The turn was begun again/,
  );
  expect(events.frames({ type: 'token', text: 'Two' })).toBe('');
});
