import { withDeadline } from './with-deadline.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const after = async <Result>(ms: number, say: () => Result): Promise<Result> => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return say();
};
const fail = (sentence: string) => (): never => {
  throw new Error(sentence);
};

test('work that ends in time gives its result, and leaves no timer', async () => {
  const late = jest.fn(() => 'late');
  const result = withDeadline(
    after(99, () => 'done'),
    100,
    late,
  );
  await jest.advanceTimersByTimeAsync(99);
  expect(await result).toBe('done');
  expect([late.mock.calls.length, jest.getTimerCount()]).toEqual([0, 0]);
});

test('work that fails in time gives its failure', async () => {
  const result = expect(withDeadline(after(10, fail('broken')), 100, fail('late'))).rejects.toThrow('broken');
  await jest.advanceTimersByTimeAsync(10);
  await result;
  expect(jest.getTimerCount()).toBe(0);
});

test('after the deadline it returns what `late` returns', async () => {
  const result = withDeadline(new Promise<string>(() => undefined), 100, () => Promise.resolve('late'));
  await jest.advanceTimersByTimeAsync(100);
  expect(await result).toBe('late');
});

test('or throws; a later failure of the work is ignored', async () => {
  const result = expect(withDeadline(after(200, fail('broken')), 100, fail('late'))).rejects.toThrow('late');
  await jest.advanceTimersByTimeAsync(100);
  await result;
  await jest.advanceTimersByTimeAsync(100);
});
