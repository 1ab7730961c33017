import { readRetryAfter, sanitiseSentence } from './classify-fault.js';

describe('the message of a provider', () => {
  it('loses every secret before it is cut', () => {
    const text = `${'x'.repeat(190)} key-0123456789abcdef`;
    expect(sanitiseSentence(text, ['key-0123456789abcdef'])).toBe(`${'x'.repeat(190)} ***`);
  });

  it('is one line of at most 200 characters', () => {
    const clean = sanitiseSentence(`a\r\nb\u0000\u001b[31m ${'c '.repeat(300)}`, []);
    expect(clean).toMatch(/^a b \[31m c/);
    expect(clean.length).toBeGreaterThan(190);
    expect(clean.length).toBeLessThanOrEqual(200);
    expect(clean.endsWith('…')).toBe(true);
  });

  it('loses the credentials of a URL', () => {
    expect(sanitiseSentence('see https://me:word@example.com/x', [])).toBe('see https://***@example.com/x');
  });

  it.each([undefined, '', ' \n', '<html><body>Bad gateway</body></html>'])('is empty for %j', (text) => {
    expect(sanitiseSentence(text, ['', 'k'])).toBe('');
  });
});

const now = Date.parse('2030-01-01T00:00:00Z');

describe('the wait that a provider asks for', () => {
  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after-ms': '120', 'retry-after': '2' }, 120],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:07 GMT' }, 7000],
    [{ 'retry-after': 'Mon, 31 Dec 2029 23:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-3' }, undefined],
    [{}, undefined],
  ])('%j is %s ms', (headers, wait) => {
    expect(readRetryAfter(new Headers(Object.entries(headers)), now)).toBe(wait);
  });

  it('is undefined without headers', () => {
    expect(readRetryAfter(undefined)).toBeUndefined();
  });
});
