import { type SourceState, ToolSources } from './tool-sources.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** One source whose state a test sets. */
function sourcesWith(state: SourceState) {
  const source = { state };
  const sources = new ToolSources();
  sources.expect(() => source.state);
  const within = (ms: number): boolean => {
    const before = sources.areSettled;
    jest.advanceTimersByTime(ms);
    return before || sources.areSettled;
  };
  return { sources, source, within };
}

test('the wait for a source starts when the source has started, however long that took', () => {
  const { source, within } = sourcesWith('not_begun');
  expect(within(600_000)).toBe(false);
  source.state = 'coming';
  expect(within(4900)).toBe(false);
  expect(within(200)).toBe(true);
});

test('a source is waited for longer while only the gateway itself holds its tools back, even later', () => {
  const { source, within } = sourcesWith('coming');
  expect(within(1000)).toBe(false);
  source.state = 'taking';
  expect(within(50_000)).toBe(false);
  source.state = 'settled';
  expect(within(0)).toBe(true);
  source.state = 'taking';
  expect(within(59_000)).toBe(false);
  expect(within(2000)).toBe(true);
});

test('a source that has settled once and is lost later is not waited for', () => {
  const { source, within } = sourcesWith('settled');
  expect(within(0)).toBe(true);
  source.state = 'coming';
  expect(within(0)).toBe(true);
});

test('the wait ends when the last source has settled, or with the signal', async () => {
  jest.useRealTimers();
  const { sources, source } = sourcesWith('coming');
  const { signal } = new AbortController();
  const waiting = sources.settled(signal);
  source.state = 'settled';
  await waiting;
  source.state = 'taking';
  await expect(sources.settled(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
});
