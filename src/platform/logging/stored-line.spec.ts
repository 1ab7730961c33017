import { storedLine } from './stored-line.js';

const json = (fields: object) =>
  JSON.stringify({ level: 'info', timestamp: '2026-03-01T12:00:00.123Z', module: 'm', ...fields });

test('the sentence is followed by the fields, each readable and on the same line', () => {
  const { message } = storedLine(
    json({
      message: 'done',
      plain: 'word',
      two: 'two words',
      n: 3,
      list: ['a\nb'],
      quote: 'a"b',
      none: null,
    }),
    30,
  );
  expect(message).toBe('done plain=word two="two words" n=3 list=["a\\nb"] quote="a\\"b" none=null');
});

test('time, rank, module and session have their own columns', () => {
  expect(storedLine(json({ message: 'x', session_id: 'sess_1' }), 40)).toEqual({
    at: new Date('2026-03-01T12:00:00.123Z'),
    rank: 40,
    module: 'm',
    message: 'x',
    sessionId: 'sess_1',
  });
  expect(storedLine(json({ message: 'x', session_id: 7 }), 40).sessionId).toBeNull();
});

test('what is too long is cut with a mark, never within a character', () => {
  const { message, module } = storedLine(
    json({ module: 'm'.repeat(300), message: `x${'😀'.repeat(5000)}` }),
    30,
  );
  expect(message).toHaveLength(8192);
  expect(message.endsWith('…')).toBe(true);
  expect(message.isWellFormed()).toBe(true);
  expect(module).toHaveLength(256);
});

test('a line that is not JSON is stored as a line that says so', () => {
  expect(storedLine('{"broken', 30).message).toBe('a line could not be read back');
});
