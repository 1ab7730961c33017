import {
  itemMarker,
  RULE,
  type TextBlock,
  type TextRun,
  tableBlocks,
  textOfBlocks,
} from './formatted-text.js';
import { parseMarkdown } from './markdown.js';
import { EVERY_ESCAPE, FewestEscapes, type ParagraphEscapes, paragraphLine } from './markdown-escapes.js';

/**
 * Markdown in the subset that Teams shows: bold, italic, strike, code, links, lists, quotes. What else would mean
 * more than its letters is escaped; headings are bold, tables stand in columns.
 */
export function teamsMarkdown(markdown: string): string {
  return teamsText(parseMarkdown(markdown)) ?? markdown;
}

/** The letters that people read, without any form; at most as long as it was written. */
export function teamsPlainText(markdown: string): string {
  const text = textOfBlocks(parseMarkdown(markdown));
  return text.trim() === '' || text.length > markdown.length ? markdown : text;
}

/** Undefined for what cannot be written so that it reads the same. */
export function teamsText(blocks: readonly TextBlock[]): string | undefined {
  const read = lettersOf(blocks);
  // Marks between letters and punctuation do not always count as marks; then the text goes without them.
  for (const isMarked of [true, false]) {
    for (const isSparing of [true, false]) {
      const text = new TeamsWriter(isMarked, isSparing).blocks(blocks, '');
      if (text.trim() !== '' && lettersOf(parseMarkdown(text)) === read) return text;
    }
  }
  return undefined;
}

function lettersOf(blocks: readonly TextBlock[]): string {
  return textOfBlocks(blocks).replace(/\s+/g, '').replaceAll('%28', '(').replaceAll('%29', ')');
}

class TeamsWriter {
  constructor(
    private readonly isMarked: boolean,
    private readonly isSparing: boolean,
  ) {}

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
    const escapes = this.isSparing ? new FewestEscapes(runs) : EVERY_ESCAPE;
    return runs
      .map((run, index) => {
        const text = this.run(run, escapes);
        // Before a link it would make a picture of it.
        return runs[index + 1]?.href !== undefined && text.endsWith('!') ? `${text.slice(0, -1)}\\!` : text;
      })
      .join('');
  }

  private run({ text, style, href }: TextRun, escapes: ParagraphEscapes): string {
    if (text.trim() === '') return text;
    const core = text.trim();
    const at = text.indexOf(core);
    const isLink = href !== undefined;
    const letters = style.code === true ? inlineCode(core) : escapes.escaped(text, isLink).trim();
    const shown = this.isMarked ? marked(letters, style) : letters;
    return (
      text.slice(0, at) + (isLink ? `[${shown}](${address(href)})` : shown) + text.slice(at + core.length)
    );
  }
}

/** Lines of a paragraph stay lines. */
function lines(text: string, indent: string): string {
  return text.split('\n').map(paragraphLine).join(`  \n${indent}`);
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

function address(href: string): string {
  return href
    .replace(/[()<>\\\s]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29');
}
