import type { Timing } from './compare.js';

/** Short slots and several of them: what disturbs the machine for a second then disturbs both sides, or one slot. */
export const TIMING: Timing = {
  rounds: Number(process.env['BENCH_ROUNDS'] ?? 5),
  slotMs: Number(process.env['BENCH_SLOT_MS'] ?? 1000),
  warmUpMs: 2000,
};
