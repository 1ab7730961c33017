import {
  itemMarker,
  RULE,
  type TextBlock,
  type TextRun,
  tableBlocks,
  textOfBlocks,
} from './formatted-text.js';
import { parseMarkdown } from './markdown.js';

/** What Markdown or HTML could read as more than a letter, wherever it stands. */
const SPECIAL = /[\\`*_[\]#~|<>&]/g;
/** What begins a list or a heading at the start of a line. */
const LINE_START = /^(\s*)([-+=]|\d{1,9}(?=[.)]))/;

/**
 * Markdown in the subset that Teams shows: bold, italic, strike, code, links, lists, quotes. Whatever else a text has in it is
 * escaped, so that people read its letters; headings are bold, tables stand in columns.
 */
export function teamsMarkdown(markdown: string): string {
  const blocks = parseMarkdown(markdown);
  const read = lettersOf(blocks);
  // Marks between letters and punctuation do not always count as marks; then the text goes without them.
  for (const isMarked of [true, false]) {
    const text = new TeamsWriter(isMarked).blocks(blocks, '');
    if (text.trim() !== '' && lettersOf(parseMarkdown(text)) === read) return text;
  }
  return markdown;
}

function lettersOf(blocks: readonly TextBlock[]): string {
  return textOfBlocks(blocks).replace(/\s+/g, '').replaceAll('%28', '(').replaceAll('%29', ')');
}

class TeamsWriter {
  constructor(private readonly isMarked: boolean) {}

  /** `indent` stands before each further line. */
  blocks(blocks: readonly TextBlock[], indent: string): string {
    return blocks.map((block) => this.block(block, indent)).join(`\n${indent.trimEnd()}\n${indent}`);
  }

  private block(block: TextBlock, indent: string): string {
    switch (block.kind) {
      case 'paragraph':
        return lines(this.runs(block.runs), indent);
      case 'heading':
        return lines(
          this.runs(block.runs.map((run) => ({ ...run, style: { ...run.style, bold: true } }))),
          indent,
        );
      case 'code':
        return codeText(block.text, block.language, indent);
      case 'quote':
        return `> ${this.blocks(block.blocks, `${indent}> `)}`;
      case 'list':
        return block.items
          .map(({ blocks }, index) =>
            this.item(
              blocks,
              block.firstNumber === undefined ? '- ' : itemMarker(block.firstNumber, index),
              indent,
            ),
          )
          .join(`\n${indent}`);
      case 'table':
        return this.blocks(tableBlocks(block.head, block.rows), indent);
      case 'rule':
        return RULE;
      default:
        return block satisfies never;
    }
  }

  private item(blocks: readonly TextBlock[], marker: string, indent: string): string {
    return marker + this.blocks(blocks, indent + ' '.repeat(marker.length));
  }

  private runs(runs: readonly TextRun[]): string {
    return runs.map((run) => this.run(run)).join('');
  }

  private run({ text, style, href }: TextRun): string {
    if (text.trim() === '') return text;
    const core = text.trim();
    const at = text.indexOf(core);
    const shown = this.shown(core, style);
    const linked = href === undefined ? shown : `[${shown}](${address(href)})`;
    return text.slice(0, at) + linked + text.slice(at + core.length);
  }

  private shown(text: string, style: TextRun['style']): string {
    if (style.code === true) return inlineCode(text);
    return this.isMarked ? marked(escaped(text), style) : escaped(text);
  }
}

/** Lines of a paragraph stay lines. */
function lines(text: string, indent: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(LINE_START, '$1\\$2')
        .replace(/^(\\)(\d+)([.)])/, '$2\\$3'),
    )
    .join(`  \n${indent}`);
}

/** A fence is longer than any in the code. */
function codeText(text: string, language: string, indent: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  const word = /^[\w+#.-]{0,32}$/.test(language) ? language : '';
  return [fence + word, ...text.split('\n'), fence].join(`\n${indent}`);
}

/** Marks do not reach over the end of a line. */
function marked(text: string, { bold, italic, strike }: TextRun['style']): string {
  const marks = [bold === true ? '**' : '', italic === true ? '*' : '', strike === true ? '~~' : ''].filter(
    Boolean,
  );
  if (marks.length === 0) return text;
  const [open, close] = [marks.join(''), marks.toReversed().join('')];
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? line : `${open}${line.trim()}${close}`))
    .join('\n');
}

function inlineCode(text: string): string {
  const flat = text.replaceAll('\n', ' ');
  const longest = Math.max(0, ...[...flat.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return longest === 0 ? ticks + flat + ticks : `${ticks} ${flat} ${ticks}`;
}

const HTML: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' };

function escaped(text: string): string {
  return text.replace(SPECIAL, (letter) => HTML[letter] ?? `\\${letter}`);
}

function address(href: string): string {
  return href
    .replace(/[()<>\\\s]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29');
}
