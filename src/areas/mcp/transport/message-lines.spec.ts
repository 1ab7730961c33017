import { LineTooLong } from './line-splitter.js';
import { MessageLines } from './message-lines.js';

const MIB = 1_048_576;
const bytes = (text: string): Buffer => Buffer.from(text);

test('lines come out whole, however they were cut, also within a character', () => {
  const lines = new MessageLines();
  const found = [...bytes('{"a":"é"}\r\n{"b":1}\nrest')].flatMap((byte) => lines.push(Buffer.from([byte])));
  expect(found).toEqual(['{"a":"é"}', '{"b":1}']);
  expect(lines.push(bytes('\n\n'))).toEqual(['rest', '']);
});

test.each([
  ['bytes', 'x'.repeat(10 * MIB), 'has more than 10485760 bytes (10 MiB)'],
  ['values', Array.from({ length: 50_001 }, () => 0), 'has more than 50000 values'],
  ['levels', JSON.parse('['.repeat(100) + ']'.repeat(100)) as unknown, 'is nested more than 100 levels deep'],
])(
  'an answer with too many %s is refused with its id, and the next line is read',
  (_what, result, reason) => {
    const lines = new MessageLines();
    lines.push(bytes('{}\n'));
    const line = bytes(`${JSON.stringify({ jsonrpc: '2.0', result, id: 42 })}\n{"id":43}\n`);
    const found = [
      lines.push(line.subarray(0, line.length >> 1)),
      lines.push(line.subarray(line.length >> 1)),
    ].flat();
    expect(found).toEqual([
      { id: 42, reason: `The message of the tool server ${reason}, so it was not read.` },
      '{"id":43}',
    ]);
  },
);

test('what is no answer has no id when it is refused', () => {
  const lines = new MessageLines();
  lines.push(bytes('{}\n'));
  const [found] = lines.push(bytes(`{"method":"m","id":1,"params":["${'x'.repeat(10 * MIB)}"]}\n`));
  expect(found).toMatchObject({ id: undefined });
});

test('a line without end is too long: the first one soon, a later one after 64 MiB', () => {
  const mib = Buffer.alloc(MIB, 'x');
  const until = (lines: MessageLines): number => {
    for (let count = 1; ; count += 1) {
      try {
        lines.push(mib);
      } catch (error) {
        expect(error).toBeInstanceOf(LineTooLong);
        return count;
      }
    }
  };
  const later = new MessageLines();
  later.push(bytes('{}\n'));
  expect([until(new MessageLines()), until(later)]).toEqual([11, 65]);
});
