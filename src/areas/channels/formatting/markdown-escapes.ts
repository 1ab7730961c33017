import type { TextRun } from './formatted-text.js';

/** What Markdown or HTML could read as more than a letter, wherever it stands. */
const SPECIAL = /[\\`*_[\]#~|<>&]/g;
const HTML: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' };
/** The letters that may need an escape within a line; marks that stand side by side are one. */
const DOUBTFUL = /\\|`+|\*+|_+|~+|[[\]|<>&]/g;
/** "A backslash before any other letter is a backslash" (CommonMark, Backslash escapes). */
const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** Beyond ASCII; halves of letters of two code units, too. */
const SYMBOL = /(?!\p{ASCII})\p{S}|\p{Cs}/u;
const TAG = /<[a-z/!?]|<$/i;
/** The second line of a table. */
const TABLE_RULER = /^[\s|:-]*\|[\s|:-]*$/m;

/** Text within a paragraph that people are to read as it is. */
export interface ParagraphEscapes {
  /** @param isLink whether it is the text of a link */
  escaped(text: string, isLink: boolean): string;
}

/** Escapes everything that is special anywhere. */
export const EVERY_ESCAPE: ParagraphEscapes = {
  escaped: (text) => text.replace(SPECIAL, (letter) => HTML[letter] ?? `\\${letter}`),
};

/**
 * Escapes only what would change the meaning of this paragraph (CommonMark and GitHub's tables): some clients of Teams show
 * the backslashes of others. A mark does when it could begin a pair that another one ends, so `snake_case` and `2 * 3` stay.
 */
export class FewestEscapes implements ParagraphEscapes {
  private readonly pairs: ReadonlySet<string>;
  private readonly hasLink: boolean;
  private readonly hasTag: boolean;
  private readonly hasTable: boolean;

  constructor(runs: readonly TextRun[]) {
    const letters = runs.map(({ text }) => text).join('');
    this.pairs = pairsIn(runs);
    this.hasLink = /\][(:]|^\s*\[[ xX]\]\s/m.test(letters);
    this.hasTag = runs.some(({ text }) => TAG.test(text));
    this.hasTable = TABLE_RULER.test(letters);
  }

  escaped(text: string, isLink: boolean): string {
    return text.replace(DOUBTFUL, (found: string, at: number) => {
      const next = text[at + found.length];
      switch (found) {
        case '\\':
          return next === undefined || next === '\n' || PUNCTUATION.test(next) ? '\\\\' : found;
        case '[':
        case ']':
          return isLink || this.hasLink ? `\\${found}` : found;
        case '|':
          return this.hasTable ? '\\|' : found;
        case '<':
          return next === undefined || TAG.test(found + next) ? '&lt;' : found;
        case '>':
          return this.hasTag ? '&gt;' : found;
        case '&':
          return next === undefined || /[#a-z0-9]/i.test(next) ? '&amp;' : found;
        default: {
          const [mark = ''] = found;
          const { opens, closes } = flanksOf(text, at, found);
          return this.pairs.has(mark) && (opens || closes) ? `\\${mark}`.repeat(found.length) : found;
        }
      }
    });
  }
}

/** The marks of which one could begin, and a later one end, what is emphasised, struck out or code. */
function pairsIn(runs: readonly TextRun[]): ReadonlySet<string> {
  const open = new Set<string>();
  const pairs = new Set<string>();
  for (const { text, style } of runs) {
    // Marks that are written around this run pair with those of the text.
    if (style.code === true) pairs.add('`');
    if (style.bold === true || style.italic === true) pairs.add('*');
    if (style.strike === true) pairs.add('~');
    if (style.code === true) continue;
    for (const { 0: found, index } of text.matchAll(/`+|\*+|_+|~+/g)) {
      const [mark = ''] = found;
      const { opens, closes } = flanksOf(text, index, found);
      if (closes && open.has(mark)) pairs.add(mark);
      if (opens) open.add(mark);
    }
  }
  return pairs;
}

type Kind = 'space' | 'word' | 'other';

/** Whether marks at this place may begin or end something (CommonMark, Emphasis). */
function flanksOf(text: string, at: number, marks: string): { opens: boolean; closes: boolean } {
  if (marks.startsWith('`')) return { opens: true, closes: true };
  const isWithinWord = !marks.startsWith('_');
  const found = { opens: false, closes: false };
  for (const before of kindsOf(text[at - 1])) {
    for (const after of kindsOf(text[at + marks.length])) {
      const isLeft = after !== 'space' && (after === 'word' || before !== 'word');
      const isRight = before !== 'space' && (before === 'word' || after !== 'word');
      found.opens ||= isLeft && (isWithinWord || !isRight || before !== 'word');
      found.closes ||= isRight && (isWithinWord || !isLeft || after !== 'word');
    }
  }
  return found;
}

/** What a letter beside marks counts as; of another run, and of symbols, readers differ. */
function kindsOf(letter: string | undefined): readonly Kind[] {
  if (letter === undefined || SYMBOL.test(letter)) return ['word', 'other'];
  if (/\s/.test(letter)) return ['space'];
  return /\p{P}/u.test(letter) || PUNCTUATION.test(letter) ? ['other'] : ['word'];
}

/** What begins a block at the start of a line, with its first letter, or the letter behind its number, escaped. */
const LINE_STARTS: readonly (readonly [RegExp, string])[] = [
  [/^([-+*]|#{1,6})(?=\s|$)/, '\\$1'],
  [/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2'],
  // Lines, and what makes a heading of the line above.
  [/^(?=([-=_*])(?:\s*\1)*\s*$)/, '\\'],
  [/^(?=`{3,}[^`]*$|~{3,}|:-)/, '\\'],
  [/^>/, '&gt;'],
];

/** A line of a paragraph that is no other block. */
export function paragraphLine(line: string): string {
  const text = line.trim();
  const start = LINE_STARTS.find(([found]) => found.test(text));
  return start === undefined ? text : text.replace(...start);
}
