import MarkdownIt, { type MarkdownIt as MarkdownParser, type Token } from 'markdown-it';
import type { ListItem, TableRow, TextBlock, TextRun, TextStyle } from './formatted-text.js';

/** Deeper nesting is shown as it was written. */
const MAX_NESTING = 40;
/** Addresses of other schemes stay text. */
const LINK = /^(?:https?:\/\/|mailto:)[^\s]+$/i;

const parser = markdownParser();

/**
 * Markdown as models write it (CommonMark, tables, strikethrough) in blocks. Never throws, and loses no letter that
 * people were meant to read; HTML and what is left open are shown as they were written.
 */
export function parseMarkdown(text: string): readonly TextBlock[] {
  const tokens = parser.parse(text, {});
  if (tokens.some(({ level }) => level >= MAX_NESTING - 1)) return [plainParagraph(text)];
  const blocks = new TokenReader(tokens).blocks();
  return blocks.length === 0 && text.trim() !== '' ? [plainParagraph(text)] : blocks;
}

function plainParagraph(text: string): TextBlock {
  return { kind: 'paragraph', runs: [{ text: text.trim(), style: {} }] };
}

function markdownParser(): MarkdownParser {
  const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false, maxNesting: MAX_NESTING });
  // A definition of a link disappears from the text, and a line of dashes makes a heading of what stands above it.
  markdown.disable(['reference', 'lheading']);
  // People see the address of a link that we do not follow, too.
  markdown.validateLink = (url) => LINK.test(url);
  // Lines keep their indentation, which the stock rule drops.
  markdown.inline.ruler.at('newline', (state, silent) => {
    if (state.src[state.pos] !== '\n') return false;
    if (!silent) state.push('softbreak', 'br', 0);
    state.pos += 1;
    return true;
  });
  return markdown;
}

/** Reads markdown-it's flat list of tokens, in which `…_open` and `…_close` enclose what is nested. */
class TokenReader {
  private at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  /** The blocks up to the end of the enclosing one. */
  blocks(): TextBlock[] {
    const blocks: TextBlock[] = [];
    for (let token = this.next(); token !== undefined; token = this.next()) {
      if (token.nesting === -1) break;
      const block = this.block(token);
      if (block !== undefined) blocks.push(block);
    }
    return blocks;
  }

  private next(): Token | undefined {
    const token = this.tokens[this.at];
    this.at += 1;
    return token;
  }

  private block(token: Token): TextBlock | undefined {
    switch (token.type) {
      case 'paragraph_open':
      case 'heading_open':
        return this.textBlock(token.type === 'heading_open' ? 'heading' : 'paragraph');
      case 'fence':
      case 'code_block':
        return codeBlock(token);
      case 'blockquote_open':
        return quoteOf(this.blocks());
      case 'bullet_list_open':
        return { kind: 'list', firstNumber: undefined, items: this.items() };
      case 'ordered_list_open':
        return { kind: 'list', firstNumber: Number(token.attrGet('start') ?? 1), items: this.items() };
      case 'table_open':
        return this.table();
      case 'hr':
        return { kind: 'rule' };
      default:
        return undefined;
    }
  }

  private textBlock(kind: 'paragraph' | 'heading'): TextBlock | undefined {
    const runs = runsOf(this.next()?.children ?? []);
    this.next();
    return runs.length === 0 ? undefined : { kind, runs };
  }

  private items(): ListItem[] {
    const items: ListItem[] = [];
    for (let token = this.next(); token !== undefined && token.nesting !== -1; token = this.next()) {
      items.push({ blocks: this.blocks() });
    }
    return items;
  }

  private table(): TextBlock {
    const rows: TableRow[] = [];
    let row: (readonly TextRun[])[] = [];
    for (let token = this.next(); token !== undefined && token.type !== 'table_close'; token = this.next()) {
      if (token.type === 'tr_open') row = [];
      else if (token.type === 'inline') row.push(runsOf(token.children ?? []));
      else if (token.type === 'tr_close') rows.push(row);
    }
    const [head = [], ...others] = rows;
    return { kind: 'table', head, rows: others };
  }
}

function quoteOf(blocks: readonly TextBlock[]): TextBlock | undefined {
  return blocks.length === 0 ? undefined : { kind: 'quote', blocks };
}

function codeBlock({ content, info }: Token): TextBlock | undefined {
  const text = content.replace(/\n$/, '');
  const language = /^[\w+#.-]{1,32}/.exec(info.trim())?.[0] ?? '';
  return text.trim() === '' ? undefined : { kind: 'code', language, text };
}

const MARKS: Readonly<Record<string, keyof TextStyle>> = { strong: 'bold', em: 'italic', s: 'strike' };

function runsOf(tokens: readonly Token[]): TextRun[] {
  const runs: TextRun[] = [];
  const depths = { bold: 0, italic: 0, strike: 0, code: 0 };
  let href: string | undefined;
  for (const token of tokens) {
    const mark = MARKS[token.type.replace(/_(?:open|close)$/, '')];
    if (mark !== undefined) depths[mark] += token.nesting;
    else if (token.type === 'link_open') href = attribute(token, 'href');
    else if (token.type === 'link_close') href = undefined;
    else if (token.type === 'image') add(runs, imageRun(token));
    else if (token.type === 'code_inline')
      add(runs, linked({ text: token.content, style: { code: true } }, href));
    else if (token.type === 'softbreak' || token.type === 'hardbreak') add(runs, { text: '\n', style: {} });
    else add(runs, linked({ text: token.content, style: styleOf(depths) }, href));
  }
  return runs;
}

function styleOf(depths: Readonly<Record<keyof TextStyle, number>>): TextStyle {
  return {
    ...(depths.bold > 0 && { bold: true as const }),
    ...(depths.italic > 0 && { italic: true as const }),
    ...(depths.strike > 0 && { strike: true as const }),
  };
}

/** A picture is a link to it under its description. */
function imageRun(token: Token): TextRun {
  const href = attribute(token, 'src') ?? '';
  return linked({ text: token.content === '' ? href : token.content, style: {} }, href);
}

function attribute(token: Token, name: string): string | undefined {
  const value = token.attrGet(name);
  return value === null ? undefined : String(value);
}

function linked(run: TextRun, href: string | undefined): TextRun {
  return href === undefined || !LINK.test(href) ? run : { ...run, href };
}

/** Adds a run, to the last one if that looks alike. */
function add(runs: TextRun[], run: TextRun): void {
  if (run.text === '') return;
  const last = runs.at(-1);
  if (last === undefined || last.href !== run.href || !isSameStyle(last.style, run.style)) runs.push(run);
  else runs[runs.length - 1] = { ...last, text: last.text + run.text };
}

function isSameStyle(one: TextStyle, other: TextStyle): boolean {
  return (
    one.bold === other.bold &&
    one.italic === other.italic &&
    one.strike === other.strike &&
    one.code === other.code
  );
}
