import { LineSplitter, LineTooLong } from './line-splitter.js';

const bytes = (text: string): Buffer => Buffer.from(text);

test('lines come out whole, however they were cut, also within a character', () => {
  const text = bytes('{"a":"é"}\r\n{"b":1}\nrest');
  const splitter = new LineSplitter(100);
  const lines = [...text].flatMap((byte) => splitter.push(Buffer.from([byte])));
  expect(lines).toEqual(['{"a":"é"}', '{"b":1}']);
  expect(splitter.push(bytes('\n\n'))).toEqual(['rest', '']);
});

test('a line past the bound is refused, and what follows begins anew', () => {
  const splitter = new LineSplitter(8);
  expect(splitter.push(bytes('12345678\n'))).toEqual(['12345678']);
  splitter.push(bytes('12345'));
  expect(() => splitter.push(bytes('6789'))).toThrow(LineTooLong);
  expect(splitter.push(bytes('ok\n'))).toEqual(['ok']);
});
