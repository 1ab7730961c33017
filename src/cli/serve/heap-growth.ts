import { setFlagsFromString } from 'node:v8';

/** By how much what is no longer new may grow before it is collected, in percent. */
const GROWTH_PERCENT = 100;

/**
 * Keeps memory within bounds. Left to itself, V8 lets garbage of a busy gateway pile up to several times of what is in use
 * before it collects it. Lower is flatter and dearer: docs/performance.md has both.
 */
export function collectGarbageEarly(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
