import { ConnectionLost, DatabaseAway } from './database-failure.js';
import { throughOutage } from './through-outage.js';

const away = () => new DatabaseAway('The database is away.');

/** Fails with these errors, one after the other, and then answers. */
function failing(...errors: Error[]) {
  return jest.fn(async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return 'answer';
  });
}

test('work that fails because the database is away is repeated', async () => {
  const work = failing(away(), away());
  expect(await throughOutage(work, { limitMs: 10_000 })).toBe('answer');
  expect(work).toHaveBeenCalledTimes(3);
});

test('any other failure is thrown at once', async () => {
  const work = failing(away(), new Error('syntax error'));
  await expect(throughOutage(work, { limitMs: 10_000 })).rejects.toThrow('syntax error');
  expect(work).toHaveBeenCalledTimes(2);
});

test('so is one that must not be repeated', async () => {
  const lost = new ConnectionLost('Lost.');
  const work = failing(away(), lost);
  const isFinal = (error: DatabaseAway) => error instanceof ConnectionLost;
  await expect(throughOutage(work, { limitMs: 10_000, isFinal })).rejects.toBe(lost);
  expect(work).toHaveBeenCalledTimes(2);
});

test('it gives up before the limit is over', async () => {
  const work = failing(...Array.from({ length: 100 }, away));
  await expect(throughOutage(work, { limitMs: 400 })).rejects.toThrow('away');
  expect(work.mock.calls.length).toBeLessThan(5);
});

test('an abort ends the wait', async () => {
  const abort = new AbortController();
  const work = jest.fn(async () => {
    abort.abort(new Error('The turn is over.'));
    throw away();
  });
  await expect(throughOutage(work, { limitMs: 10_000, signal: abort.signal })).rejects.toThrow('is over');
  const pausing = new AbortController();
  const waiting = throughOutage(failing(...Array.from({ length: 100 }, away)), {
    limitMs: 600_000,
    signal: pausing.signal,
  });
  setImmediate(() => pausing.abort(new Error('The turn is over.')));
  await expect(waiting).rejects.toThrow('is over');
});
