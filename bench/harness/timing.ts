import type { Timing } from './compare.js';

/** Several short slots: what disturbs the machine for a second then affects both sides, or only one slot. */
export const TIMING: Timing = {
  rounds: Number(process.env['BENCH_ROUNDS'] ?? 5),
  slotMs: Number(process.env['BENCH_SLOT_MS'] ?? 1000),
  warmUpMs: 2000,
};
