import { paintOf } from '../paint.js';
import { textTable } from '../text-table.js';

const WIDTH = 100;

/** Lines of at most 100 columns; cells of the folded columns wrap. */
export function remoteTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  folded: readonly number[],
  isColored = false,
): string {
  return textTable([head, ...rows], { width: WIDTH, folded, paint: paintOf(isColored) });
}

/** `2026-01-31 14:05:09Z`; a dash for a moment that has not come. */
export function second(moment: string | null): string {
  return moment === null ? '-' : `${moment.slice(0, 19).replace('T', ' ')}Z`;
}
