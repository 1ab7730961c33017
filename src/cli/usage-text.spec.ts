import { csvOf, dollars } from './usage-text.js';

const counts = {
  turns: 2,
  input_tokens: 1000,
  cached_input_tokens: 10,
  cache_write_tokens: 0,
  output_tokens: 7,
  reasoning_tokens: 0,
  cost_usd: 0.0000001,
  unpriced_tokens: 0,
};

test('"CSV that opens in a spreadsheet": RFC 4180, no exponents, and an unknown cost is an empty cell', () => {
  const rows = [
    { dimensions: { user: 'Ada, "the first"' }, counts },
    { dimensions: { user: 'bob' }, counts: { ...counts, cost_usd: null, unpriced_tokens: 1007 } },
  ];
  expect(csvOf(['user'], rows)).toBe(
    '\ufeffuser,turns,input_tokens,cached_input_tokens,cache_write_tokens,output_tokens,reasoning_tokens,cost_usd,unpriced_tokens\r\n' +
      '"Ada, ""the first""",2,1000,10,0,7,0,0.0000001,0\r\n' +
      'bob,2,1000,10,0,7,0,,1007\r\n',
  );
});

test.each([
  '=1+1',
  '+1',
  '-1',
  '@sum(A1)',
  '\t=1',
  ' =1',
  '\r=1',
  '\n=1',
  '\u0000=1',
  '\u200b=1',
  '＝1+1',
  '＠sum(A1)',
])('the name %j is not a formula', (user) => {
  const [, line = ''] = csvOf(['user'], [{ dimensions: { user }, counts }]).split(/\r\n(?=["'])/);
  expect(line.replace(/^"/, '').startsWith("'")).toBe(true);
});

test('dollars have no exponent and no trailing zeros', () => {
  expect([dollars(0), dollars(1e-7), dollars(12.5), dollars(12.5, 4), dollars(0, 4)]).toEqual([
    ...['0', '0.0000001', '12.5', '12.5000', '0.0000'],
  ]);
});
