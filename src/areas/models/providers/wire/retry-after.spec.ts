import { readRetryAfter } from './retry-after.js';

const now = Date.parse('2030-01-01T00:00:00Z');

describe('the wait a provider asks for', () => {
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

  it('is none without headers', () => {
    expect(readRetryAfter(undefined)).toBeUndefined();
  });
});
