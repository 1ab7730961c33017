import { LineSplitter, LineTooLong, lastLines, MessageLines } from './child-lines.js';

const bytes = (text: string): Buffer => Buffer.from(text);

test('lines come out whole wherever the chunks are cut, even within a character', () => {
  const text = bytes('{"a":"é"}\r\n{"b":1}\nrest');
  const splitter = new LineSplitter(100);
  const lines = [...text].flatMap((byte) => splitter.push(Buffer.from([byte])));
  expect(lines).toEqual(['{"a":"é"}', '{"b":1}']);
  expect(splitter.push(bytes('\n\n'))).toEqual(['rest', '']);
});

test('a line past the bound is reported once and skipped to its end, and what is around it in the chunk is kept', () => {
  const splitter = new LineSplitter(8);
  expect(splitter.push(bytes('12345678\n'))).toEqual(['12345678']);
  expect(splitter.push(bytes('before\n123456789\nafter\nrest'))).toEqual(['before', undefined, 'after']);
  expect(splitter.push(bytes('\n12345'))).toEqual(['rest']);
  expect([splitter.push(bytes('6789')), splitter.push(bytes('more'))]).toEqual([[undefined], []]);
  expect(splitter.push(bytes('end\nok\n'))).toEqual(['ok']);
});

test.each([
  ['', 2, ''],
  ['a', 2, 'a'],
  ['a\nb\n', 2, 'a\nb\n'],
  ['\na\nb', 2, '\na\nb'],
  ['a\nb\nc\n', 2, 'b\nc\n'],
  ['a\nb\nc\nd', 2, 'b\nc\nd'],
  ['\n\n\n', 2, '\n\n'],
])('of %j the last %d lines and what follows them are %j', (text, most, last) => {
  expect(lastLines(bytes(text), most).toString()).toBe(last);
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

test.each([
  ['its id, when that comes first', '"id":42,"result":', '}', undefined],
  ['the only request that waits', '"result":', ',"id":42}', 42],
])('a response past 10 MiB is refused before it ends, by %s, and only once', (_how, head, tail, only) => {
  const lines = new MessageLines(() => only);
  lines.push(bytes('{}\n'));
  expect(lines.push(bytes(`{${head}"${'x'.repeat(10 * MIB)}`))).toEqual([
    {
      id: 42,
      reason: 'The message of the tool server has more than 10485760 bytes (10 MiB), so it was not read.',
    },
  ]);
  expect(lines.push(bytes('x'.repeat(MIB)))).toEqual([]);
  expect(lines.push(bytes(`"${tail}\n{"id":43}\n`))).toEqual(['{"id":43}']);
});

test('an id that is cut at the end of a chunk is not used before it is complete', () => {
  const lines = new MessageLines();
  lines.push(bytes('{}\n'));
  expect(lines.push(bytes(`{"result":"${'x'.repeat(10 * MIB)}","id":4`))).toEqual([]);
  expect(lines.push(bytes('2}\n'))).toMatchObject([{ id: 42 }]);
});

test('a large message that is not a response fails no request, however few wait', () => {
  const lines = new MessageLines(() => 42);
  lines.push(bytes('{}\n'));
  expect(lines.push(bytes(`{"params":"${'x'.repeat(10 * MIB)}`))).toEqual([]);
  expect(lines.push(bytes('","method":"m"}\n'))).toMatchObject([{ id: undefined }]);
});

test('an endless line is too long: the first one past 10 MiB, a later one past 256 MiB', () => {
  const mib = Buffer.alloc(MIB, 'x');
  const until = (lines: MessageLines): number => {
    lines.push(bytes('{"'));
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
  expect([until(new MessageLines()), until(later)]).toEqual([10, 256]);
});
