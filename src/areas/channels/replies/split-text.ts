/** A break is looked for in this last share of a part; before it, a part would be needlessly short. */
const LOOK_BACK = 0.5;
/** From the best place to the worst. */
const BREAKS = ['\n\n', '\n', '. ', '! ', '? ', '。', '; ', ', ', ' '];
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Longest cluster of code points (families, flags) that is kept together. */
const MAX_GRAPHEME_LENGTH = 64;

/**
 * The text in parts of at most `longest` UTF-16 units, cut between paragraphs, lines, sentences or words, else between
 * characters as people count them; never within one that is made of two units. Blanks at a cut are dropped.
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
    if (found > longest * (1 - LOOK_BACK)) return found + mark.length;
  }
  return characterEnd(text, longest);
}

/** The end of the last whole character that fits; at least one code point, so that it goes on. */
function characterEnd(text: string, longest: number): number {
  const from = codePointStart(text, Math.max(0, longest - MAX_GRAPHEME_LENGTH));
  let end = from;
  for (const { index, segment } of graphemes.segment(text.slice(from, longest + MAX_GRAPHEME_LENGTH))) {
    if (from + index + segment.length > longest) break;
    end = from + index + segment.length;
  }
  return end > 0 ? end : codePointStart(text, longest);
}

/** The place, or the one before it when the place is within a surrogate pair. */
function codePointStart(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  const isWithin = code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
  return isWithin ? at - 1 : at;
}
