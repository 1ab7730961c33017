/** Breaks are searched for in this last share of a part; earlier ones would make it needlessly short. */
const BREAK_SHARE = 0.5;
/** From best to worst. */
const BREAKS = ['\n\n', '\n', '. ', '! ', '? ', '。', '; ', ', ', ' '];
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Longest cluster of code points (families, flags) that is kept together. */
const MAX_GRAPHEME_LENGTH = 64;

/**
 * Splits a text into parts of at most `longest` UTF-16 code units: between paragraphs, lines, sentences or words if
 * possible, else between grapheme clusters, and never within a surrogate pair. White space at a cut is dropped.
 */
export function splitText(text: string, longest: number): readonly string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > longest) {
    const end = cutOf(rest, longest);
    parts.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  if (rest !== '') parts.push(rest);
  return parts.filter((part) => part !== '');
}

function cutOf(text: string, longest: number): number {
  const window = text.slice(0, longest);
  for (const mark of BREAKS) {
    const found = window.lastIndexOf(mark);
    if (found > longest * (1 - BREAK_SHARE)) return found + mark.length;
  }
  return characterEnd(text, longest);
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
