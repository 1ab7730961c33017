import type { UsageReportRow } from '../areas/usage/usage-reports.js';

const COUNTS = [
  ...(['turns', 'input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens'] as const),
  ...(['reasoning_tokens', 'cost_usd', 'unpriced_tokens'] as const),
];
/** What spreadsheets take for the beginning of a formula, also behind a blank or a tab, and as wide as Japanese is written. */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;
/** Also what separates cells where a comma stands in numbers. */
const NEEDS_QUOTES = /[",;\t\r\n]/;
const COST_DIGITS = 12;
/** Says to spreadsheets that it is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** CSV as RFC 4180 has it. A cost that is unknown is an empty cell, and no text is taken for a formula. */
export function csvOf(
  by: readonly (keyof UsageReportRow['dimensions'])[],
  rows: readonly UsageReportRow[],
): string {
  const lines = rows.map(({ dimensions, counts }) => [
    ...by.map((name) => textCell(dimensions[name] ?? '')),
    ...COUNTS.map((count) => numberCell(counts[count])),
  ]);
  const head = [...by, ...COUNTS];
  return BYTE_ORDER_MARK + [head, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

/** A number without an exponent and without zeros at its end, but with at least so many digits behind the point. */
export function dollars(value: number, least = 0): string {
  const [whole = '0', behind = ''] = value.toFixed(COST_DIGITS).split('.');
  let digits = behind;
  while (digits.length > least && digits.endsWith('0')) digits = digits.slice(0, -1);
  return digits === '' ? whole : `${whole}.${digits}`;
}

function numberCell(value: number | null): string {
  if (value === null) return '';
  return Number.isInteger(value) ? String(value) : dollars(value);
}

function textCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
