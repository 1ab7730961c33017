import { LineSplitter, LineTooLong, MessageLines } from './child-lines.js';

const bytes = (text: string): Buffer => Buffer.from(text);

test('lines come out whole wherever the chunks are cut, even within a character', () => {
  const text = bytes('{"a":"é"}\r\n{"b":1}\nrest');
  const splitter = new LineSplitter(100);
  const lines = [...text].flatMap((byte) => splitter.push(Buffer.from([byte])));
  expect(lines).toEqual(['{"a":"é"}', '{"b":1}']);
  expect(splitter.push(bytes('\n\n'))).toEqual(['rest', '']);
});

test('a line past the bound is refused and the splitter starts over', () => {
  const splitter = new LineSplitter(8);
  expect(splitter.push(bytes('12345678\n'))).toEqual(['12345678']);
  splitter.push(bytes('12345'));
  expect(() => splitter.push(bytes('6789'))).toThrow(LineTooLong);
  expect(splitter.push(bytes('ok\n'))).toEqual(['ok']);
});

const MIB = 1_048_576;

test('message lines come out whole wherever the chunks are cut, even within a character', () => {
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
  'a response with too many %s is refused with its id, and the next line is read',
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

test('a refused message that is not a response has no id', () => {
  const lines = new MessageLines();
  lines.push(bytes('{}\n'));
  const [found] = lines.push(bytes(`{"method":"m","id":1,"params":["${'x'.repeat(10 * MIB)}"]}\n`));
  expect(found).toMatchObject({ id: undefined });
});

test('an endless line is too long: the first one past 10 MiB, a later one past 64 MiB', () => {
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
