import type { Row } from '../benchmark.js';
import type { Figures } from './compare.js';

/** For example `3,210/s, p50 18.2 ms, p99 31.0 ms, CPU 0.21 ms`. */
export function figuresText({ perSecond, p50Ms, p99Ms, cpuMsPerRequest }: Figures): string {
  const cpu = Number.isNaN(cpuMsPerRequest) ? '' : `, CPU ${cpuMsPerRequest.toFixed(2)} ms`;
  return `${Math.round(perSecond).toLocaleString('en')}/s, p50 ${short(p50Ms)} ms, p99 ${short(p99Ms)} ms${cpu}`;
}

/** A row whose goal is a minimum ratio. */
export function atLeast(row: Pick<Row, 'path' | 'measured' | 'baseline'>, ratio: number, least: number): Row {
  return { ...row, value: `${ratio.toFixed(2)} ×`, goal: `≥ ${least} ×`, met: ratio >= least };
}

/** A row whose goal is a maximum, in a unit. */
export function atMost(
  row: Pick<Row, 'path' | 'measured' | 'baseline'>,
  value: number,
  most: number,
  unit: string,
): Row {
  return { ...row, value: `${short(value)} ${unit}`, goal: `≤ ${most} ${unit}`, met: value <= most };
}

/** Three significant digits. */
export function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

/** A row without a goal. */
export function informs(row: Pick<Row, 'path' | 'measured' | 'baseline'>, value: string): Row {
  return { ...row, value, goal: '', met: undefined };
}
