import { printable } from './terminal-text.js';

const GAP = '  ';
/** A folded column is at least this wide. */
const MIN_WIDTH = 6;

export interface TableShape {
  /** Characters a line may have. */
  readonly width: number;
  /** Columns, counted from 0, whose cells are folded when a line would be longer. */
  readonly folded: readonly number[];
  /** Colours a cell, or the part of it in one line; adds nothing that takes room. */
  readonly paint?: Paint | undefined;
}

export type Paint = (cell: string, isHead: boolean) => string;

/**
 * Lays out rows of cells, the head first, in columns as wide as their widest cell. With a shape, cells of folded columns
 * wrap within their column; the other columns keep their width, even when a line gets longer than `width`. No cell controls the
 * terminal.
 */
export function textTable(raw: readonly (readonly string[])[], shape?: TableShape): string {
  const rows = raw.map((row) => row.map(printable));
  const widest = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const widths = shape === undefined ? widest : narrowed(widest, shape);
  const paint = shape?.paint ?? plain;
  return rows.flatMap((row, index) => linesOf(row, widths, (cell) => paint(cell, index === 0))).join('');
}

const plain: Paint = (cell) => cell;

/** Narrows the widest of the folded columns until the line fits. */
function narrowed(widest: readonly number[], { width, folded }: TableShape): readonly number[] {
  const widths = [...widest];
  const widthOf = (column: number) => widths[column] ?? 0;
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1) - width;
  for (; excess > 0; excess--) {
    const column = folded.reduce((best, one) => (widthOf(one) > widthOf(best) ? one : best), folded[0] ?? 0);
    if (widthOf(column) <= MIN_WIDTH) break;
    widths[column] = widthOf(column) - 1;
  }
  return widths;
}

function linesOf(
  row: readonly string[],
  widths: readonly number[],
  paint: (cell: string) => string,
): string[] {
  const cells = row.map((cell, column) => fold(cell, widths[column] ?? 0));
  const height = Math.max(...cells.map((parts) => parts.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = cells.map((cell, column) => {
      const text = cell[line] ?? '';
      return (text === '' ? '' : paint(text)) + ' '.repeat(Math.max(0, (widths[column] ?? 0) - text.length));
    });
    return `${parts.join(GAP).trimEnd()}\n`;
  });
}

/** Breaks after commas and at blanks where possible. */
function fold(cell: string, width: number): string[] {
  const lines: string[] = [];
  let rest = cell;
  while (rest.length > width) {
    const head = rest.slice(0, width + 1);
    const comma = head.lastIndexOf(',', width - 1) + 1;
    const end = Math.max(comma, head.lastIndexOf(' ')) || width;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
