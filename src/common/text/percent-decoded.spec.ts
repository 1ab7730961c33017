import { percentDecoded } from './percent-decoded.js';

test.each([
  ['plain', 'plain'],
  ['p%40ss%20word', 'p@ss word'],
  ['%C3%A4%e2%82%ac', 'ä€'],
  ['5%', '5%'],
  ['x%3D5%', 'x=5%'],
  ['%zz%41', '%zzA'],
  ['%ff%41', '%ff%41'],
])('%s is read as %s', (text, decoded) => {
  expect(percentDecoded(text)).toBe(decoded);
});
