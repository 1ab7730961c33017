import { sanitiseSentence } from './sanitise-sentence.js';

describe('a provider’s words', () => {
  it('lose every secret before they are cut', () => {
    const text = `${'x'.repeat(190)} key-0123456789abcdef`;
    expect(sanitiseSentence(text, ['key-0123456789abcdef'])).toBe(`${'x'.repeat(190)} ***`);
  });

  it('are one line of at most 200 characters', () => {
    const clean = sanitiseSentence(`a\r\nb\u0000\u001b[31m ${'c '.repeat(300)}`, []);
    expect(clean).toMatch(/^a b \[31m c/);
    expect(clean.length).toBeGreaterThan(190);
    expect(clean.length).toBeLessThanOrEqual(200);
    expect(clean.endsWith('…')).toBe(true);
  });

  it('lose the credentials of a URL', () => {
    expect(sanitiseSentence('see https://me:word@example.com/x', [])).toBe('see https://***@example.com/x');
  });

  it.each([undefined, '', ' \n', '<html><body>Bad gateway</body></html>'])('are nothing for %j', (text) => {
    expect(sanitiseSentence(text, ['', 'k'])).toBe('');
  });
});
