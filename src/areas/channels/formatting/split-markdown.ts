import { textOfBlocks } from './formatted-text.js';
import { parseMarkdown } from './markdown.js';

/** Breaks are searched for in this last share of a part; earlier ones would make it needlessly short. */
const BREAK_SHARE = 0.5;
/** From best to worst. */
const BREAKS = ['\n\n', '\n', '. ', '! ', '? ', '。', '; ', ', ', ' '];
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Longest cluster of code points (families, flags) that is kept together. */
const MAX_GRAPHEME_LENGTH = 64;

/** How many breaks of each kind are tried, from the last one. */
const TRIES = 12;
/** For the mark that closes code, and its line. */
const MARKER_ROOM = 5;
/** Shorter parts have no room to close code and open it again. */
const MIN_FOR_CODE = 40;
/** What may be repeated at the head of a part, as a share of it. */
const REPEATED_SHARE = 0.25;

/**
 * Splits Markdown into parts of at most `longest` UTF-16 code units that each look as they would in the whole: between
 * paragraphs, lines, sentences or words if possible, else between grapheme clusters, and never within a surrogate pair.
 * Code that is cut is closed and opened again, a table that is cut repeats its head, and bold words or links are not cut
 * where it can be helped. White space at a cut is dropped.
 */
export function splitMarkdown(text: string, longest: number): readonly string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > longest) {
    const cut = firstPart(rest, longest);
    // What is repeated must not be all that a part can hold.
    const { part, next } = cut.next.length < rest.length ? cut : plainCut(rest, characterEnd(rest, longest));
    parts.push(part);
    rest = next;
  }
  if (rest !== '') parts.push(rest);
  return parts.filter((part) => part.trim() !== '');
}

interface Cut {
  readonly part: string;
  readonly next: string;
}

/** The first place, from the best to the worst, that leaves both sides the text that people see in the whole. */
function firstPart(text: string, longest: number): Cut {
  const window = text.slice(0, windowEnd(text, longest));
  const whole = lettersOf(window);
  let best: Cut | undefined;
  for (const end of cuts(text, longest < MIN_FOR_CODE ? longest : longest - MARKER_ROOM)) {
    const cut = cutAt(text, end, longest);
    best ??= cut;
    const next = cut.next.slice(0, cut.next.length - (text.length - window.length));
    if (isTableRow(text, end) || lettersOf(cut.part) + lettersOf(next) === whole) return cut;
  }
  return best ?? plainCut(text, longest);
}

/** The end of the paragraph at the limit: half of a mark would change the meaning of what stands before it. */
function windowEnd(text: string, longest: number): number {
  const end = text.indexOf('\n\n', longest);
  return Math.min(end < 0 ? text.length : end, 4 * longest);
}

function cutAt(text: string, end: number, longest: number): Cut {
  const fence = openFence(text.slice(0, end));
  if (fence !== undefined && longest >= MIN_FOR_CODE) {
    const { marker, opening, start } = fence;
    if (start > longest * (1 - BREAK_SHARE)) return plainCut(text, start);
    if (marker.length < MARKER_ROOM && opening.length <= longest * REPEATED_SHARE)
      return cutCode(text, end, fence);
  }
  const head = tableHead(text, end);
  const { part, next } = plainCut(text, end);
  return { part, next: head.length <= longest * REPEATED_SHARE ? head + next : next };
}

function plainCut(text: string, end: number): Cut {
  return { part: text.slice(0, end).trimEnd(), next: text.slice(end).trimStart() };
}

function cutCode(text: string, end: number, { opening, marker }: OpenFence): Cut {
  const part = `${text.slice(0, end).trimEnd()}\n${marker}`;
  const tail = text.slice(end).replace(/^\n/, '');
  // The fence may end right here.
  const isOver = fenceOf(tail.split('\n', 1)[0] ?? '').marker.startsWith(marker);
  return { part, next: isOver ? tail.slice(tail.indexOf('\n') + 1).trimStart() : `${opening}\n${tail}` };
}

function lettersOf(markdown: string): string {
  return textOfBlocks(parseMarkdown(markdown)).replace(/\s/g, '');
}

/** Where a part may end, from the best to the worst place; the last one is between two characters. */
function* cuts(text: string, longest: number): Generator<number> {
  const window = text.slice(0, longest);
  for (const mark of BREAKS) {
    let found = window.lastIndexOf(mark);
    for (let tried = 0; tried < TRIES && found > longest * (1 - BREAK_SHARE); tried += 1) {
      yield found + mark.length;
      found = window.lastIndexOf(mark, found - 1);
    }
  }
  yield characterEnd(text, longest);
}

interface OpenFence {
  /** Where its line begins. */
  readonly start: number;
  readonly opening: string;
  readonly marker: string;
}

/** The fence of code that is open at the end of the text. */
function openFence(text: string): OpenFence | undefined {
  let open: OpenFence | undefined;
  let start = 0;
  for (const line of text.split('\n')) {
    const { marker, info } = fenceOf(line);
    if (open === undefined) {
      // Back quotes after back quotes are code within a line.
      if (marker !== '' && !(marker.startsWith('`') && info.includes('`')))
        open = { start, opening: line, marker };
    } else if (marker.startsWith(open.marker) && info.trim() === '') {
      open = undefined;
    }
    start += line.length + 1;
  }
  return open;
}

/** The mark of a fence at the beginning of a line, and what stands behind it; empty elsewhere. */
function fenceOf(line: string): { readonly marker: string; readonly info: string } {
  const text = line.trimStart();
  const [first] = text;
  let length = 0;
  while (length < text.length && text[length] === first) length += 1;
  const isFence = length >= 3 && (first === '`' || first === '~');
  return isFence ? { marker: text.slice(0, length), info: text.slice(length) } : { marker: '', info: '' };
}

/** The two lines that have to stand above the rest of a table that is cut here; empty elsewhere. */
function tableHead(text: string, end: number): string {
  if (!isTableRow(text, end)) return '';
  const lines = text.slice(0, end).trimEnd().split('\n');
  let first = lines.length - 1;
  while (first > 0 && lines[first - 1]?.includes('|') === true) first -= 1;
  const [names = '', ruler = ''] = lines.slice(first);
  return isRuler(ruler) ? `${names}\n${ruler}\n` : '';
}

/** Whether the cut is between two lines with columns. */
function isTableRow(text: string, end: number): boolean {
  if (text[end - 1] !== '\n') return false;
  const before = text.slice(text.lastIndexOf('\n', end - 2) + 1, end);
  const [after = ''] = text.slice(end, end + 4096).split('\n', 1);
  return before.includes('|') && after.includes('|');
}

function isRuler(line: string): boolean {
  return /^[\s|:-]+$/.test(line) && line.includes('-');
}

/** The end of the last grapheme cluster that fits; at least one code point, so that splitting makes progress. */
function characterEnd(text: string, longest: number): number {
  const from = codePointStart(text, Math.max(0, longest - MAX_GRAPHEME_LENGTH));
  let end = from;
  for (const { index, segment } of graphemes.segment(text.slice(from, longest + MAX_GRAPHEME_LENGTH))) {
    if (from + index + segment.length > longest) break;
    end = from + index + segment.length;
  }
  return end > 0 ? end : codePointStart(text, longest);
}

/** `at`, or the index before it when `at` is within a surrogate pair. */
function codePointStart(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  const isWithin = code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
  return isWithin ? at - 1 : at;
}
