import { EventStream, type Traffic } from './event-stream.js';

/** A reader over no transport: the test says what was written, and what was taken. */
class Reader extends EventStream {
  private written = 0;
  private taken = 0;

  write(bytes: number): void {
    this.written += bytes;
  }

  take(bytes: number): void {
    this.taken += bytes;
  }

  get endSignal(): AbortSignal {
    return this.whenEnded;
  }

  heartbeat(): void {
    // When it is due is shown by the spec of `OpenStreams`.
  }

  cut(): void {
    this.end();
  }

  close(): void {
    this.end();
  }

  protected traffic(): Traffic {
    return { sent: this.written, pending: this.written - this.taken };
  }
}

let reader: Reader;
beforeEach(() => {
  jest.useFakeTimers();
  reader = new Reader();
});
afterEach(() => jest.useRealTimers());

/** What it says after so many milliseconds. */
function stalledAfter(ms: number): number {
  jest.advanceTimersByTime(ms);
  return reader.stalledMs();
}

describe('how long its reader has taken nothing', () => {
  beforeEach(() => expect(reader.stalledMs()).toBe(0));

  test('counts from the moment when bytes are pending: one that was sent nothing is not late', () => {
    expect(stalledAfter(60_000)).toBe(0);
    reader.write(100);
    expect([stalledAfter(250), stalledAfter(250), stalledAfter(30_000)]).toEqual([250, 500, 30_500]);
  });

  test('is not shortened by what is written meanwhile', () => {
    const seen: number[] = [];
    for (let look = 0; look < 4; look += 1) {
      reader.write(100);
      seen.push(stalledAfter(250));
    }
    expect(seen).toEqual([250, 500, 750, 1000]);
  });

  test('begins anew with the least that it takes, though more is pending than before', () => {
    reader.write(100);
    expect(stalledAfter(5000)).toBe(5000);
    reader.take(1);
    reader.write(1000);
    expect([stalledAfter(250), stalledAfter(250)]).toEqual([0, 250]);
  });

  test('is over when it has taken everything', () => {
    reader.write(100);
    expect(stalledAfter(5000)).toBe(5000);
    reader.take(100);
    expect([stalledAfter(250), stalledAfter(60_000)]).toEqual([0, 0]);
    reader.write(100);
    expect(stalledAfter(250)).toBe(250);
  });

  test('is exact to the time between two questions, of which the earlier counts while nothing is taken', () => {
    jest.advanceTimersByTime(200);
    reader.write(100);
    expect(stalledAfter(50)).toBe(250);
    jest.advanceTimersByTime(50);
    reader.take(10);
    expect([stalledAfter(200), stalledAfter(250)]).toEqual([0, 250]);
  });
});

test('a stream is not late when it is asked for the first time, however long ago it was made', () => {
  reader.write(100);
  expect([stalledAfter(60_000), stalledAfter(250)]).toEqual([0, 250]);
});

test('it keeps no timer', () => {
  reader.write(100);
  reader.onEnd(() => undefined);
  reader.stalledMs();
  expect(jest.getTimerCount()).toBe(0);
});

test('its end is told once to every listener, which finds it ended, however often it ends', () => {
  const told: string[] = [];
  reader.onEnd(() => told.push(`one ${reader.isOpen}`));
  reader.onEnd(() => {
    told.push(`two ${reader.isOpen}`);
    reader.end();
  });
  expect([reader.isOpen, reader.endSignal.aborted]).toEqual([true, false]);
  reader.cut();
  reader.close();
  reader.end();
  expect(told).toEqual(['one false', 'two false']);
  expect([reader.isOpen, reader.endSignal.aborted]).toEqual([false, true]);
});

test('who listens when it has ended is told at once, and alone', () => {
  const told: string[] = [];
  reader.onEnd(() => told.push('early'));
  reader.end();
  reader.onEnd(() => told.push('late'));
  expect(told).toEqual(['early', 'late']);
});
