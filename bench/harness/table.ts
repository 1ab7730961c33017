import type { Row } from '../benchmark.js';

const HEADINGS = ['Path', 'Measured', 'Compared with', 'Value', 'Goal', ''];

/** The rows as a Markdown table that also reads well as text. */
export function tableText(rows: readonly Row[]): string {
  const cells = rows.map(({ path, measured, baseline, value, goal, met }) => [
    path,
    measured,
    baseline,
    value,
    goal,
    verdict(met),
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(3, ...[heading, ...cells.map((line) => line[column] ?? '')].map(({ length }) => length)),
  );
  const lineOf = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lineOf(HEADINGS), rule, ...cells.map(lineOf)].join('\n');
}

function verdict(met: boolean | undefined): string {
  if (met === undefined) return '';
  return met ? 'met' : 'missed';
}
