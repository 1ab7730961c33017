/** How a run of text is shown. Code has no other marks. */
export interface TextStyle {
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  readonly code?: true;
}

/** A run of text in one style; `href` makes it a link to an http, https or mailto address. Never empty. */
export interface TextRun {
  readonly text: string;
  readonly style: TextStyle;
  readonly href?: string;
}

export interface ListItem {
  readonly blocks: readonly TextBlock[];
}

/** What an answer consists of, on every platform. */
export type TextBlock =
  | { readonly kind: 'paragraph'; readonly runs: readonly TextRun[] }
  | { readonly kind: 'heading'; readonly runs: readonly TextRun[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly TextBlock[] }
  | { readonly kind: 'list'; readonly firstNumber: number | undefined; readonly items: readonly ListItem[] }
  | { readonly kind: 'table'; readonly head: TableRow; readonly rows: readonly TableRow[] }
  | { readonly kind: 'rule' };

/** One list of runs for each column. */
export type TableRow = readonly (readonly TextRun[])[];

/** The marker of an item: a bullet, or its number. */
export function itemMarker(firstNumber: number | undefined, index: number): string {
  return firstNumber === undefined ? '• ' : `${firstNumber + index}. `;
}

function textOfRuns(runs: readonly TextRun[]): string {
  return runs.map(({ text }) => text).join('');
}

/** A line between two parts of a text. */
export const RULE = '———';

/** Wider tables do not fit a phone. */
const MAX_TABLE_COLUMNS = 56;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * A table in blocks that every platform can show: columns aligned in fixed-width type when they fit, else a paragraph for
 * each row that names its columns.
 */
export function tableBlocks(head: TableRow, rows: readonly TableRow[]): readonly TextBlock[] {
  const texts = [head, ...rows].map((row) => row.map((cell) => textOfRuns(cell).replaceAll('\n', ' ')));
  const widths = head.map((_, column) => Math.max(...texts.map((row) => widthOf(row[column] ?? ''))));
  const total = widths.reduce((sum, width) => sum + width, 0) + 3 * (widths.length - 1);
  if (total > MAX_TABLE_COLUMNS) return rows.map((row) => paragraphOfRow(head, row));
  const ruler = widths.map((width) => '-'.repeat(width)).join('-+-');
  const lines = texts.map((row) =>
    widths.map((width, column) => padded(row[column] ?? '', width)).join(' | '),
  );
  const [first = '', ...others] = lines.map((line) => line.trimEnd());
  return [{ kind: 'code', language: '', text: [first, ruler, ...others].join('\n') }];
}

function paragraphOfRow(head: TableRow, row: TableRow): TextBlock {
  const runs: TextRun[] = [];
  for (const [column, cell] of row.entries()) {
    if (cell.length === 0) continue;
    if (runs.length > 0) runs.push({ text: '\n', style: {} });
    const name = textOfRuns(head[column] ?? []);
    if (name !== '') runs.push({ text: `${name}: `, style: { bold: true } });
    runs.push(...cell);
  }
  return { kind: 'paragraph', runs };
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - widthOf(text));
}

/** Columns in fixed-width type. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** The text that people see where nothing can be formatted; `indent` stands before further lines. */
export function textOfBlocks(blocks: readonly TextBlock[], indent = ''): string {
  return blocks.map((block) => textOfBlock(block, indent)).join(`\n${indent}`);
}

function textOfBlock(block: TextBlock, indent: string): string {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return block.runs.map(readableRun).join('').replaceAll('\n', `\n${indent}`);
    case 'code':
      return block.text.replaceAll('\n', `\n${indent}`);
    case 'quote':
      return textOfBlocks(block.blocks, indent);
    case 'list':
      return block.items
        .map(
          (item, index) => itemMarker(block.firstNumber, index) + textOfBlocks(item.blocks, `${indent}   `),
        )
        .join(`\n${indent}`);
    case 'table':
      return textOfBlocks(tableBlocks(block.head, block.rows), indent);
    case 'rule':
      return RULE;
    default:
      return block satisfies never;
  }
}

/** The address stands beside the words of a link that hide it. */
function readableRun(run: TextRun): string {
  const text = textOfRuns([run]);
  return run.href === undefined || run.href === text ? text : `${text} (${run.href})`;
}
