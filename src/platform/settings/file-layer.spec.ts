import fc from 'fast-check';
import { substitute } from './file-layer.js';

const lookup = (name: string) => ({ HOST: 'db', EMPTY: '', REF: `\${HOST}` })[name];

describe('references to the environment', () => {
  test.each([
    [`\${HOST}:\${HOST}`, 'db:db'],
    [`a\${EMPTY}b`, 'ab'],
    [`\${REF}`, `\${HOST}`],
    [`$\${HOST}`, `\${HOST}`],
    ['costs $5 or $HOST', 'costs $5 or $HOST'],
  ])('%s reads %s', (text, expected) => {
    expect(substitute(text, lookup)).toEqual({ text: expected, missing: [], malformed: false });
  });

  test('a missing variable is named, a malformed reference is reported', () => {
    expect(substitute(`\${ONE} \${TWO}`, lookup).missing).toEqual(['ONE', 'TWO']);
    expect([`\${`, `\${a b}`, `\${HOST:-x}`].map((text) => substitute(text, lookup).malformed)).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('text without a reference stays as it is', () => {
    const plain = fc.string().filter((text) => !text.includes('${'));
    fc.assert(fc.property(plain, (text) => substitute(text, lookup).text === text));
  });
});
