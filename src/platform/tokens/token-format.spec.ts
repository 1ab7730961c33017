import fc from 'fast-check';
import { hashToken, looksLikeToken, mintToken } from './token-format.js';

const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('mintToken', () => {
  test('makes a text of 53 characters that needs no escaping in a header, a shell or a URL', () => {
    for (let i = 0; i < 200; i++) expect(mintToken()).toMatch(/^agw_[A-Za-z0-9_-]{49}$/);
  });

  test('makes tokens that looksLikeToken accepts and that differ', () => {
    const tokens = Array.from({ length: 500 }, mintToken);
    expect(tokens.every(looksLikeToken)).toBe(true);
    expect(new Set(tokens).size).toBe(500);
  });
});

describe('looksLikeToken', () => {
  test('keeps to the published format: CRC32 in six base62 digits', () => {
    // CRC32 worked out with another implementation (Python's zlib), so that stored tokens stay valid for ever.
    expect(looksLikeToken(`agw_${'A'.repeat(43)}2zw221`)).toBe(true);
    expect(looksLikeToken(`agw_${'A'.repeat(43)}000000`)).toBe(false);
  });

  test('refuses a token with any one character changed', () => {
    const position = fc.integer({ min: 0, max: 52 });
    fc.assert(
      fc.property(position, fc.constantFrom(...CHARACTERS), (at, char) => {
        const token = mintToken();
        fc.pre(token[at] !== char);
        expect(looksLikeToken(token.slice(0, at) + char + token.slice(at + 1))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test('refuses two neighbours exchanged', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 51 }), (at) => {
        const token = mintToken();
        fc.pre(token[at] !== token[at + 1]);
        const swapped = `${token.slice(0, at)}${token[at + 1]}${token[at]}${token.slice(at + 2)}`;
        expect(looksLikeToken(swapped)).toBe(false);
      }),
    );
  });

  test('refuses anything around a token, a part of one, and garbage', () => {
    const token = mintToken();
    const wrong = ['', 'agw_', `${token} `, ` ${token}`, `${token}\n`, `Bearer ${token}`, token.slice(1)];
    for (const text of [...wrong, token.slice(0, -1), token.repeat(2)])
      expect(looksLikeToken(text)).toBe(false);
  });

  test('refuses random text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => !looksLikeToken(text)));
  });
});

describe('hashToken', () => {
  test('is SHA-256 of the text', () => {
    expect(hashToken('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
