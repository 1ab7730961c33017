import { StartTimeout } from './start-timeout.js';

test('a server that starts slowly is given twice the time at each attempt, up to five minutes', () => {
  const patience = new StartTimeout('files', 10_000);
  const limits = Array.from({ length: 7 }, () => {
    const { limitMs } = patience;
    patience.wasLate();
    return limitMs;
  });
  expect(limits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  patience.wasReady();
  expect(patience.limitMs).toBe(10_000);
});

test('the configured time is never shortened', () => {
  const patience = new StartTimeout('files', 600_000);
  expect(patience.wasLate().message).toBe(
    'it was not ready within 600000 ms; the next attempt may take 600000 ms (mcp.servers.files.startup_timeout_ms sets the first)',
  );
});
