import type { TextRun } from './formatted-text.js';

/** What Markdown or HTML could read as more than a letter, wherever it stands. */
const SPECIAL = /[\\`*_[\]#~|<>&]/g;
const HTML: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' };
const withEscape = (letter: string): string => HTML[letter] ?? `\\${letter}`;
/** The letters that may need an escape within a line; marks that stand side by side are one. */
const DOUBTFUL = /\\|`+|\*+|_+|~+|[[\]|<>&]/g;
const MARK = /^[`*_~]/;
/** "A backslash before any other letter is a backslash" (CommonMark, Backslash escapes). */
const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** Beyond ASCII; halves of letters of two code units, too. */
const SYMBOL = /(?!\p{ASCII})\p{S}|\p{Cs}/u;
const TAG = /<[a-z/!?]|<$/i;

/** Text within a paragraph that people are to read as it is. */
export interface ParagraphEscapes {
  /** @param isLink whether it is the text of a link */
  escaped(text: string, isLink: boolean): string;
}

/** Escapes everything that is special anywhere. */
export const EVERY_ESCAPE: ParagraphEscapes = {
  escaped: (text) => text.replace(SPECIAL, withEscape),
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
    const lines = letters.split('\n').map((line) => line.trim());
    this.pairs = pairsIn(runs);
    this.hasLink = /\][(:]/.test(letters) || lines.some((line) => /^\[[ xX]\]\s/.test(line));
    this.hasTag = runs.some(({ text }) => TAG.test(text));
    // What may be the second line of a table.
    this.hasTable = lines.some((line) => line.includes('|') && /^[\s|:-]+$/.test(line));
  }

  escaped(text: string, isLink: boolean): string {
    return text.replace(DOUBTFUL, (found: string, at: number) => {
      if (MARK.test(found)) return this.marks(text, at, found);
      return this.meansMore(found, text[at + 1], isLink) ? withEscape(found) : found;
    });
  }

  private marks(text: string, at: number, found: string): string {
    const [mark = ''] = found;
    const { opens, closes } = flanksOf(text, at, found);
    return this.pairs.has(mark) && (opens || closes) ? `\\${mark}`.repeat(found.length) : found;
  }

  private meansMore(letter: string, next: string | undefined, isLink: boolean): boolean {
    switch (letter) {
      case '\\':
        return next === undefined || next === '\n' || PUNCTUATION.test(next);
      case '<':
        return next === undefined || TAG.test(`<${next}`);
      case '&':
        return next === undefined || /[#a-z0-9]/i.test(next);
      case '>':
        return this.hasTag;
      case '|':
        return this.hasTable;
      default:
        return isLink || this.hasLink;
    }
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
  const isUnderscore = marks.startsWith('_');
  const afters = kindsOf(text[at + marks.length]);
  const sides = kindsOf(text[at - 1]).flatMap((before) => afters.map((after) => [before, after] as const));
  return {
    opens: sides.some(([before, after]) => mayOpen(before, after, isUnderscore)),
    closes: sides.some(([before, after]) => mayOpen(after, before, isUnderscore)),
  };
}

/** Before what they mark; behind it the sides are the other way round. Underscores do nothing within a word. */
function mayOpen(outside: Kind, inside: Kind, isUnderscore: boolean): boolean {
  const flanks = inside !== 'space' && (inside === 'word' || outside !== 'word');
  const flanksBoth = outside !== 'space' && (outside === 'word' || inside !== 'word');
  return flanks && !(isUnderscore && flanksBoth && outside === 'word');
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
