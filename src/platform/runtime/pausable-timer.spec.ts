import { PausableTimer } from './pausable-timer.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const started = () => {
  const over = jest.fn();
  return { over, timer: new PausableTimer(1000, over) };
};

test('paused time does not count, however many hold the pause', () => {
  const { over, timer } = started();
  jest.advanceTimersByTime(600);
  const releases = [timer.hold(), timer.hold()];
  jest.advanceTimersByTime(60_000);
  releases[0]?.();
  releases[0]?.();
  jest.advanceTimersByTime(60_000);
  expect(over).not.toHaveBeenCalled();
  releases[1]?.();
  jest.advanceTimersByTime(399);
  expect(over).not.toHaveBeenCalled();
  jest.advanceTimersByTime(2);
  expect(over).toHaveBeenCalledTimes(1);
});

test('it restarts with its whole time, even while it is paused', () => {
  const { over, timer } = started();
  jest.advanceTimersByTime(900);
  timer.restart();
  const release = timer.hold();
  timer.restart();
  jest.advanceTimersByTime(5000);
  release();
  jest.advanceTimersByTime(999);
  expect(over).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(over).toHaveBeenCalled();
});

test('one that was cleared never fires', () => {
  const { over, timer } = started();
  const release = timer.hold();
  timer.clear();
  release();
  jest.advanceTimersByTime(5000);
  expect(over).not.toHaveBeenCalled();
});
