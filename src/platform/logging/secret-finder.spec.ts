import fc from 'fast-check';
import { REDACTED, SecretFinder } from './secret-finder.js';

function finderOf(secrets: string[]): SecretFinder {
  const finder = new SecretFinder();
  for (const secret of secrets) finder.add(secret);
  return finder;
}

/** The slow and obvious way: mark every character of every occurrence, then replace each run of marks. */
function replaceNaively(text: string, secrets: string[]): string {
  const isHidden = new Array<boolean>(text.length).fill(false);
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
      isHidden.fill(true, at, at + secret.length);
    }
  }
  let result = '';
  for (let i = 0; i < text.length; i++) {
    if (!isHidden[i]) result += text.charAt(i);
    else if (!isHidden[i - 1]) result += REDACTED;
  }
  return result;
}

const over = (letters: string[], minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...letters), { minLength, maxLength }).map((chars) => chars.join(''));

describe('SecretFinder', () => {
  test('finds what a search for each secret at each place finds, however they overlap', () => {
    const secrets = fc.array(over(['a', 'b'], 8, 14), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(secrets, over(['a', 'b'], 0, 120), (some, text) => {
        expect(finderOf(some).replaceAll(text)).toBe(replaceNaively(text, some));
      }),
      { numRuns: 3000 },
    );
  });

  test('finds secrets anywhere in texts of any characters', () => {
    const letters = ['a', '\u0441', '\u4f60', '\u{1f600}', '\ud800', '"', ' '];
    const secrets = fc.array(over(letters, 8, 30), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(secrets, fc.array(over(letters, 0, 20), { maxLength: 6 }), (some, between) => {
        const text = between.map((part, i) => `${part}${some[i] ?? some[0]}`).join('');
        expect(finderOf(some).replaceAll(text)).toBe(replaceNaively(text, some));
      }),
      { numRuns: 1000 },
    );
  });

  test('hides the longer of two secrets that start alike, and both where they overlap', () => {
    const finder = finderOf(['abcdefgh', 'abcdefgh-and-more', 'more-of-it']);
    expect(finder.replaceAll('x abcdefgh-and-more x')).toBe(`x ${REDACTED} x`);
    expect(finder.replaceAll('x abcdefgh-and x')).toBe(`x ${REDACTED}-and x`);
    expect(finder.replaceAll('x abcdefgh-and-more-of-it x')).toBe(`x ${REDACTED} x`);
  });

  test('finds a secret at the very start, at the very end and as the whole text', () => {
    const finder = finderOf(['12345678']);
    expect(finder.replaceAll('12345678 x')).toBe(`${REDACTED} x`);
    expect(finder.replaceAll('x 12345678')).toBe(`x ${REDACTED}`);
    expect(finder.replaceAll('12345678')).toBe(REDACTED);
    expect(finder.replaceAll('1234567812345678')).toBe(REDACTED);
  });

  test('leaves texts alone that contain none, even when they are shorter than any secret', () => {
    const finder = finderOf(['12345678']);
    for (const text of ['', '1', '1234567', '12345679', '1234567 8'])
      expect(finder.replaceAll(text)).toBe(text);
    expect(new SecretFinder().replaceAll('anything at all')).toBe('anything at all');
  });
});
