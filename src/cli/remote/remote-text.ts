import { paintOf } from '../paint.js';
import { textTable } from '../text-table.js';

const WIDTH = 100;

/** Text from users, models and tools must not control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}

/** The same for text of several lines. Joiners within emoji stay. */
export function shownText(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '?');
}

/** Lines of at most 100 columns; cells of the folded columns wrap. */
export function remoteTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  folded: readonly number[],
  isColored = false,
): string {
  const cells = rows.map((row) => row.map(printable));
  return textTable([head, ...cells], { width: WIDTH, folded, paint: paintOf(isColored) });
}

/** `2026-01-31 14:05:09Z`; a dash for a moment that has not come. */
export function second(moment: string | null): string {
  return moment === null ? '-' : `${moment.slice(0, 19).replace('T', ' ')}Z`;
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
