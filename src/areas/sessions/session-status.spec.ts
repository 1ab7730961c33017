import fc from 'fast-check';
import { SESSION_STATUSES, type SessionStatus, statusAt } from './session-status.js';

const NOW = 1_700_000_000_000;
const LIMITS = { idleSecs: 300, timeoutSecs: 3600 };

/** The status after so much silence. */
function statusAfter(silenceMs: number, recorded: SessionStatus, limits = LIMITS): SessionStatus {
  return statusAt({ recorded, quietSince: new Date(NOW - silenceMs) }, NOW, limits);
}

describe('the status of a session', () => {
  test.each<[SessionStatus, number, SessionStatus]>([
    ['active', 0, 'active'],
    ['active', 299_999, 'active'],
    ['active', 300_000, 'idle'],
    ['active', 3_599_999, 'idle'],
    ['active', 3_600_000, 'terminated'],
    ['idle', 0, 'idle'],
    ['idle', 3_599_999, 'idle'],
    ['idle', 3_600_000, 'terminated'],
    ['terminated', 0, 'terminated'],
    ['terminated', 3_600_000, 'terminated'],
  ])('recorded %s is, after %d ms of silence, %s', (recorded, silenceMs, expected) => {
    expect(statusAfter(silenceMs, recorded)).toBe(expected);
  });

  test('stays as recorded while a running turn keeps the time of the last activity in the future', () => {
    for (const recorded of SESSION_STATUSES) expect(statusAfter(-60_000, recorded)).toBe(recorded);
  });

  test('goes from active straight to terminated when the time-out is shorter than the idle time', () => {
    const limits = { idleSecs: 300, timeoutSecs: 60 };
    expect(statusAfter(59_999, 'active', limits)).toBe('active');
    expect(statusAfter(60_000, 'active', limits)).toBe('terminated');
    expect(statusAfter(60_000, 'idle', limits)).toBe('terminated');
  });

  test('only ever moves forward as silence grows', () => {
    const limits = fc.record({ idleSecs: fc.nat(10_000), timeoutSecs: fc.nat(10_000) });
    const silence = fc.integer({ min: -1e7, max: 2e7 });
    fc.assert(
      fc.property(
        fc.constantFrom(...SESSION_STATUSES),
        limits,
        silence,
        fc.nat(1e7),
        (recorded, some, ms, more) => {
          const rank = (silenceMs: number) =>
            SESSION_STATUSES.indexOf(statusAfter(silenceMs, recorded, some));
          expect(rank(ms + more)).toBeGreaterThanOrEqual(rank(ms));
          expect(rank(ms)).toBeGreaterThanOrEqual(SESSION_STATUSES.indexOf(recorded));
        },
      ),
    );
  });

  test('is the same whether or not the sweeper has recorded it in between', () => {
    const silence = fc.integer({ min: -1e7, max: 2e7 });
    fc.assert(
      fc.property(fc.constantFrom(...SESSION_STATUSES), silence, fc.nat(1e7), (recorded, ms, more) => {
        expect(statusAfter(ms + more, statusAfter(ms, recorded))).toBe(statusAfter(ms + more, recorded));
      }),
    );
  });
});
